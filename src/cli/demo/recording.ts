import { assert } from "../../lib/assert.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/** What was recorded once, by device: what a demo plays. */
export interface Recording {
  /** The first instant of all, and the last. */
  readonly startMs: number;
  readonly endMs: number;
  readonly ways: readonly Way[];
}

/** All positions of one device, in order of time: at least one. */
export interface Way {
  readonly deviceId: string;
  readonly positions: readonly Position[];
}

/** A row of what was read. */
export interface Position {
  readonly batch: ReportBatch;
  readonly row: number;
}

/** All of it is held in memory, at some 250 bytes each. */
const POSITIONS_MAX = 1_000_000;

/** There is nothing to play, or too much; the message says so. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

/** Everything that these batches hold. */
export async function collectRecording(batches: AsyncIterable<ReportBatch>): Promise<Recording> {
  const byDevice = new Map<string, Position[]>();
  let count = 0;
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  for await (const batch of batches) {
    count += batch.count;
    if (count > POSITIONS_MAX)
      throw new RecordingError(`A demo plays at most ${POSITIONS_MAX.toLocaleString("en-US")} positions.`);
    for (let row = 0; row < batch.count; row++) {
      const deviceId = batch.texts[batch.device[row]!]!;
      const positions = byDevice.get(deviceId);
      if (positions === undefined) byDevice.set(deviceId, [{ batch, row }]);
      else positions.push({ batch, row });
      const atMs = batch.timestampMs[row]!;
      if (atMs < startMs) startMs = atMs;
      if (atMs > endMs) endMs = atMs;
    }
  }
  if (count === 0) throw new RecordingError("There is no position to play.");
  const ways = [...byDevice].map(([deviceId, positions]) => ({
    deviceId,
    positions: positions.sort((a, b) => timeOf(a) - timeOf(b)),
  }));
  return { startMs, endMs, ways };
}

export function timeOf({ batch, row }: Position): number {
  return batch.timestampMs[row]!;
}

export function firstMs({ positions }: Way): number {
  return timeOf(positions[0]!);
}

export function lastMs({ positions }: Way): number {
  return timeOf(positions.at(-1)!);
}

/** How many of the positions are no later than that instant. */
export function countUntil({ positions }: Way, atMs: number): number {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(positions[middle]!) <= atMs) low = middle + 1;
    else high = middle;
  }
  assert(low === 0 || timeOf(positions[low - 1]!) <= atMs, "positions are in order of time");
  return low;
}
