import type { TracksAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { retryingSentenceOf } from "../api/api-error.ts";
import { MS_PER_HOUR, type TimeRange } from "../time/local-day.ts";
import { type Chunk, Movements, SILENCE_MS_MAX } from "./movements.ts";

/* Loads the movements of a range in slices, so that a time lapse begins before all of it is there. */

/** The first slice is as short as this, since the first frame waits for it. */
const FIRST_SLICE_MS = MS_PER_HOUR;
const SLICE_MS_MAX = 8 * MS_PER_HOUR;
/** From this many pieces on, which take 28 MB, later slices are thinned more and more. */
const PIECES_USUAL_MAX = 1_000_000;

/** The slice after another one: twice as long, or as long as possible after one without devices. */
export function sliceAfter({ startMs, endMs }: TimeRange, wasEmpty: boolean, rangeEndMs: number): TimeRange {
  const lengthMs = wasEmpty ? SLICE_MS_MAX : Math.min(2 * (endMs - startMs), SLICE_MS_MAX);
  return { startMs: endMs, endMs: Math.min(rangeEndMs, endMs + lengthMs) };
}

interface LoadedAnswer extends TracksAnswer {
  readonly incomplete?: true;
}

export interface LapseLoaderParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly range: TimeRange;
  readonly toleranceMeters: number;
  readonly signal: AbortSignal;
  /** Called with each chunk, and with null for a slice without devices. Then all is known up to `loadedMs`. */
  readonly onLoaded: (chunk: Chunk | null, loadedMs: number) => void;
  readonly onPause: (sentence: string) => void;
}

export interface LoadedRange {
  /** Whether days are missing because the archive can't read them. */
  readonly isIncomplete: boolean;
}

/** Resolves once the whole range is loaded. Throws if the server refuses, or if the signal is aborted. */
export async function loadMovements(parts: LapseLoaderParts): Promise<LoadedRange> {
  const { api, range, signal, onLoaded, onPause } = parts;
  const movements = new Movements(range.startMs);
  let { toleranceMeters } = parts;
  let pieces = 0;
  let isIncomplete = false;
  let slice = { startMs: range.startMs, endMs: Math.min(range.endMs, range.startMs + FIRST_SLICE_MS) };
  while (slice.startMs < slice.endMs) {
    const query = { start: slice.startMs, end: slice.endMs, tolerance_meters: toleranceMeters };
    const answer = await api.retries.ask(() => api.get<LoadedAnswer>("/api/v1/tracks", query, signal), {
      signal,
      onPause: (error) => onPause(retryingSentenceOf(error)),
    });
    isIncomplete ||= answer.incomplete === true;
    const chunk = movements.add(answer, slice.endMs);
    pieces += answer.timestamp.length;
    if (pieces > PIECES_USUAL_MAX) toleranceMeters = Math.min(2 * toleranceMeters, 100_000);
    // Where a device is after its last position, the next slice says.
    onLoaded(chunk, slice.endMs - SILENCE_MS_MAX);
    slice = sliceAfter(slice, chunk === null, range.endMs);
  }
  onLoaded(movements.end(), range.endMs);
  return { isIncomplete };
}
