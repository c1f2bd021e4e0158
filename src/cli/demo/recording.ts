import { assert } from "../../lib/assert.ts";
import type { ReportBatch } from "../../model/report-batch.ts";

/** The recorded positions that a demo replays, by device. */
export interface Recording {
  /** The times of the first and the last position. */
  readonly startMs: number;
  readonly endMs: number;
  readonly tracks: readonly RecordedTrack[];
}

/** The positions of one device, at least one, in order of time. */
export interface RecordedTrack {
  readonly deviceId: string;
  readonly positions: readonly Position[];
}

/** A row of a batch. */
export interface Position {
  readonly batch: ReportBatch;
  readonly row: number;
}

/** All positions are in memory, at about 250 bytes each. */
const POSITIONS_MAX = 1_000_000;

/** A recording that can't be replayed; the message says why. */
export class RecordingError extends Error {
  override readonly name = "RecordingError";
}

export async function collectRecording(batches: AsyncIterable<ReportBatch>): Promise<Recording> {
  const byDevice = new Map<string, Position[]>();
  let count = 0;
  let startMs = Number.POSITIVE_INFINITY;
  let endMs = Number.NEGATIVE_INFINITY;
  for await (const batch of batches) {
    count += batch.count;
    if (count > POSITIONS_MAX)
      throw new RecordingError(`A demo replays at most ${POSITIONS_MAX.toLocaleString("en-US")} positions.`);
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
  if (count === 0) throw new RecordingError("The recording has no positions.");
  const tracks = [...byDevice].map(([deviceId, positions]) => ({
    deviceId,
    positions: positions.sort((a, b) => timeOf(a) - timeOf(b)),
  }));
  return { startMs, endMs, tracks };
}

export function timeOf({ batch, row }: Position): number {
  return batch.timestampMs[row]!;
}

export function firstMs({ positions }: RecordedTrack): number {
  return timeOf(positions[0]!);
}

export function lastMs({ positions }: RecordedTrack): number {
  return timeOf(positions.at(-1)!);
}

/** How many of the positions are at or before an instant. */
export function countUntil({ positions }: RecordedTrack, atMs: number): number {
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
