import { expect, test } from "bun:test";
import type { TracksAnswer } from "../../../../src/web/api/answers.ts";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { loadMovements, sliceAfter } from "../../../../src/web/lapse/lapse-loader.ts";
import { rejection } from "../../../support/rejection.ts";

const HOUR_MS = 3_600_000;
const RANGE = { startMs: 10 * HOUR_MS, endMs: 34 * HOUR_MS };

test("a slice is twice as long as the one before, and long at once after one without devices", () => {
  const first = { startMs: 10 * HOUR_MS, endMs: 11 * HOUR_MS };
  const after = (slice: typeof first, wasEmpty: boolean) => sliceAfter(slice, wasEmpty, RANGE.endMs);
  const second = after(first, false);
  expect(second).toEqual({ startMs: 11 * HOUR_MS, endMs: 13 * HOUR_MS });
  expect(after(first, true)).toEqual({ startMs: 11 * HOUR_MS, endMs: 19 * HOUR_MS });
  const [eighth, ninth] = [
    { startMs: 13 * HOUR_MS, endMs: 21 * HOUR_MS },
    { startMs: 21 * HOUR_MS, endMs: 29 * HOUR_MS },
  ];
  expect(after(eighth, false)).toEqual(ninth);
  expect(after(ninth, false)).toEqual({ startMs: 29 * HOUR_MS, endMs: RANGE.endMs });
});

/** A ship that reports every hour and a second later. */
function answerFor({ start, end }: { start: number; end: number }): TracksAnswer & { incomplete?: true } {
  const timestamp: number[] = [];
  for (let ms = start; ms < end; ms += HOUR_MS) timestamp.push(ms, ms + 1000);
  const gaps = timestamp.flatMap((_, index) => (index > 0 && index % 2 === 0 ? [index] : []));
  const [latitude, longitude] = [timestamp.map(() => 55), timestamp.map(() => 10)];
  const lacks = start === 11 * HOUR_MS ? { incomplete: true as const } : {};
  return { device_id: ["ship"], first: [0], gaps, timestamp, latitude, longitude, ...lacks };
}

async function load(get: (query: { start: number; end: number }) => Promise<unknown>, signal: AbortSignal) {
  const loaded: number[] = [];
  let pieces = 0;
  const answer = await loadMovements({
    api: { get: (_path, query) => get(query as never) as never, retries: new Retries() },
    range: RANGE,
    toleranceMeters: 50,
    signal,
    onLoaded: (chunk, loadedMs) => {
      pieces += chunk?.classes.reduce((sum, { count }) => sum + count, 0) ?? 0;
      loaded.push(loadedMs / HOUR_MS);
    },
    onPause: () => undefined,
  });
  return { ...answer, loaded, pieces };
}

test("a range is loaded slice by slice, each known to ten minutes before its end, and the last to its end", async () => {
  const { loaded, pieces, isIncomplete } = await load(
    async (query) => answerFor(query),
    new AbortController().signal,
  );
  const sixth = 1 / 6;
  expect(loaded.map((hours) => hours.toFixed(3))).toEqual(
    [11 - sixth, 13 - sixth, 17 - sixth, 25 - sixth, 33 - sixth, 34 - sixth, 34].map((hours) =>
      hours.toFixed(3),
    ),
  );
  expect({ pieces, isIncomplete }).toEqual({ pieces: 48, isIncomplete: true });
});

test("a refusal and an abort end loading", async () => {
  const refusal = new ApiError(403, "no", { isOurs: true });
  const refused = load(() => Promise.reject(refusal), new AbortController().signal);
  expect(await rejection(refused)).toBe(refusal);
  const loading = new AbortController();
  let asked = 0;
  const aborted = load(async (query) => {
    asked++;
    loading.abort();
    loading.signal.throwIfAborted();
    return answerFor(query);
  }, loading.signal);
  expect(await rejection(aborted)).toBe(loading.signal.reason);
  expect(asked).toBe(1);
});
