import type { ReportBatch } from "../../model/report-batch.ts";
import { MS_PER_SECOND } from "../../model/time/units.ts";
import { SILENCE_MS_MAX } from "../../service/queries/positions.ts";

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
  /** When a replay shows each position: ms since the first one, with every silence cut to a second. */
  readonly playedMs: Float64Array;
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
  const tracks = [...byDevice].map(([deviceId, positions]) =>
    recordedTrack(
      deviceId,
      positions.sort((a, b) => timeOf(a) - timeOf(b)),
    ),
  );
  return { startMs, endMs, tracks };
}

/** The silence that a replay skips takes this long, so that the position before it is shown too. */
const SKIPPED_MS = MS_PER_SECOND;

/** A track of positions in order of time. */
export function recordedTrack(deviceId: string, positions: readonly Position[]): RecordedTrack {
  const playedMs = new Float64Array(positions.length);
  for (let index = 1; index < positions.length; index++) {
    const passedMs = timeOf(positions[index]!) - timeOf(positions[index - 1]!);
    playedMs[index] = playedMs[index - 1]! + (passedMs > SILENCE_MS_MAX ? SKIPPED_MS : passedMs);
  }
  return { deviceId, positions, playedMs };
}

/** How far a replay has come at an instant of the recording; negative before the first position. */
export function playedAt({ positions, playedMs }: RecordedTrack, atMs: number): number {
  const index = countUntil(atMs, positions.length, (each) => timeOf(positions[each]!)) - 1;
  if (index < 0) return atMs - timeOf(positions[0]!);
  const next = playedMs[index + 1];
  if (next === undefined) return playedMs[index]!;
  return Math.min(next - 1, playedMs[index]! + atMs - timeOf(positions[index]!));
}

export function timeOf({ batch, row }: Position): number {
  return batch.timestampMs[row]!;
}

/** How many of `count` ascending values are at or below a limit. */
export function countUntil(limit: number, count: number, numberAt: (index: number) => number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numberAt(middle) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
