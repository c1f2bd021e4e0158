import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import { loadPastTails } from "../../../../src/web/gl/past-tails.ts";
import { SHARE_WHOLE, TAIL_WORDS, TailBuffer } from "../../../../src/web/gl/tail-buffer.ts";
import { type Dot, tableOf } from "./dot-fleet.ts";

const NOW_MS = 1_700_000_000_000;
const BUS: Dot = { latitude: 55, longitude: 10, timestamp: NOW_MS - 1000 };

/** Device 0 drives, has a gap and stands; device 9 is not in the table. */
const ANSWER = {
  device_id: ["0", "9"],
  first: [0, 4],
  gaps: [2],
  timestamp: [110_000, 90_000, 60_000, 10_000, 100_000, 50_000].map((ms) => NOW_MS - ms),
  latitude: [55, 55.01, 55.02, 55.02, 1, 2],
  longitude: [10, 10, 10, 10, 10, 10],
};

async function load(
  get: () => Promise<unknown>,
  table = tableOf([BUS]),
): Promise<readonly (readonly number[])[]> {
  const tails = new TailBuffer();
  await loadPastTails({ get: get as never }, table, tails, { nowMs: NOW_MS, pixelMeters: 40 });
  return Array.from({ length: tails.size }, (_, slot) => [
    ...tails.words.subarray(slot * TAIL_WORDS, (slot + 1) * TAIL_WORDS),
  ]);
}

test("past tails are the ways between positions, without gaps and stays", async () => {
  const [x, wordOf] = [worldX(10), (ms: number) => (NOW_MS - ms) % 2 ** 32];
  expect(await load(async () => ANSWER)).toEqual([
    [x, worldY(55), x, worldY(55.01), wordOf(110_000), wordOf(90_000), 0, SHARE_WHOLE],
  ]);
});

test("a past tail to a time after now ends now, so that it fades in time", async () => {
  const answer = { ...ANSWER, timestamp: ANSWER.timestamp.map((ms) => ms + 100_000) };
  const [tail] = await load(async () => answer);
  expect(tail!.slice(4, 6)).toEqual([(NOW_MS - 10_000) % 2 ** 32, NOW_MS % 2 ** 32]);
});

test("past tails come from the last two minutes of all devices, to half a pixel", async () => {
  let query: unknown;
  const get = async (...args: readonly unknown[]) => {
    query = args;
    return ANSWER;
  };
  await load(get as never);
  expect(query).toEqual(["/api/v1/tracks", { start: NOW_MS - 120_000, end: NOW_MS, tolerance_meters: 20 }]);
});

test("a failure, a table that was filled again and an empty one leave no past tails", async () => {
  expect(await load(() => Promise.reject(new ApiError(500, "no")))).toEqual([]);
  const table = tableOf([BUS]);
  const cleared = load(async () => {
    table.clear();
    return ANSWER;
  }, table);
  expect(await cleared).toEqual([]);
  expect(await load(() => Promise.reject(new Error("asked")), tableOf([]))).toEqual([]);
});
