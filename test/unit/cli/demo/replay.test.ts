import { expect, test } from "bun:test";
import { type KnownDevice, legAt, Replay } from "../../../../src/cli/demo/replay.ts";
import * as fc from "../../../support/fast-check.ts";
import { type Row, recordingOf, rowsOf } from "./recordings.ts";

const NOW_MS = Date.UTC(2026, 3, 1, 12);
const NONE_KNOWN: ReadonlyMap<string, KnownDevice> = new Map();

/** A device that goes north, a hundredth of a degree each ten seconds. */
function northward(deviceId: string, count: number, fromMs = 0): Row[] {
  return Array.from({ length: count }, (_, index) => ({
    deviceId,
    timestampMs: fromMs + index * 10_000,
    latitude: index / 100,
    longitude: 7,
    speed: 5,
    bearing: 10,
  }));
}

test("Replay begins with the first half of a recording as history that ends now", async () => {
  const replay = new Replay([await recordingOf(northward("bus", 5))], NONE_KNOWN, 10, NOW_MS);
  expect(rowsOf(replay.history())).toEqual([
    { deviceId: "bus", timestampMs: NOW_MS - 20_000, latitude: 0, longitude: 7, speed: 5, bearing: 10 },
    { deviceId: "bus", timestampMs: NOW_MS - 10_000, latitude: 0.01, longitude: 7, speed: 5, bearing: 10 },
    { deviceId: "bus", timestampMs: NOW_MS, latitude: 0.02, longitude: 7, speed: 5, bearing: 10 },
  ]);
});

test("Replay continues with the rest, ten times as fast, then goes back, and tells recorded speeds", async () => {
  const replay = new Replay([await recordingOf(northward("bus", 5))], NONE_KNOWN, 10, NOW_MS);
  const at = (ms: number) => rowsOf(replay.advance(NOW_MS + ms));
  expect(at(900)).toEqual([]);
  const first = { deviceId: "bus", latitude: 0.03, longitude: 7, speed: 5, bearing: 10 };
  expect(at(1000)).toEqual([{ ...first, timestampMs: NOW_MS + 1000 }]);
  expect(at(2000)).toMatchObject([{ latitude: 0.04, timestampMs: NOW_MS + 2000 }]);
  const returned: Row[] = [];
  for (let ms = 3000; ms <= 64_000; ms += 1000) returned.push(...at(ms));
  // After a rest of ten minutes, which are one here, it says where it is, and heads south.
  expect(returned.map(({ latitude }) => latitude)).toEqual([0.04, 0.03, 0.02]);
  expect(returned.map(({ bearing }) => bearing)).toEqual([190, 190, 190]);
});

test("Replay has each recording's own half before, and devices begin when they did", async () => {
  const late = { deviceId: "late", timestampMs: 30_000, latitude: 1, longitude: 1 };
  const recordings = [
    await recordingOf([...northward("bus", 5), late]),
    await recordingOf(northward("tram", 3, 9e9)),
  ];
  const replay = new Replay(recordings, NONE_KNOWN, 1, NOW_MS);
  expect(rowsOf(replay.history()).map(({ deviceId }) => deviceId)).toEqual([
    "bus",
    "bus",
    "bus",
    "tram",
    "tram",
  ]);
  const reported: string[] = [];
  for (let ms = 1000; ms <= 10_000; ms += 1000)
    reported.push(...rowsOf(replay.advance(NOW_MS + ms)).map(({ deviceId }) => deviceId));
  expect(reported).toEqual(["bus", "late", "tram"]);
});

test("Replay lets a device that ended before the middle wait at its end", async () => {
  const recording = await recordingOf([
    ...northward("early", 3),
    { ...northward("end", 1)[0]!, timestampMs: 9e7 },
  ]);
  const replay = new Replay([recording], NONE_KNOWN, 1000, NOW_MS);
  expect(rowsOf(replay.history()).at(-1)).toMatchObject({ deviceId: "early", latitude: 0.02 });
  const next: Row[] = [];
  for (let ms = 100; next.length === 0; ms += 100)
    next.push(...rowsOf(replay.advance(NOW_MS + ms)).filter(({ deviceId }) => deviceId === "early"));
  expect(next).toMatchObject([{ latitude: 0.02, bearing: 190 }]);
});

test("Replay goes on from where the server saw a device, without any history of it", async () => {
  const known = new Map([["bus", { timestampMs: NOW_MS - 5000, latitude: 0.031, longitude: 7 }]]);
  const replay = new Replay([await recordingOf(northward("bus", 9))], known, 10, NOW_MS);
  expect(rowsOf(replay.history())).toEqual([]);
  expect(rowsOf(replay.advance(NOW_MS + 500))).toMatchObject([{ latitude: 0.03 }]);
  expect(rowsOf(replay.advance(NOW_MS + 1000))).toMatchObject([{ latitude: 0.04 }]);
});

test("Replay's times grow, were the clock set back while it ran or before", async () => {
  const known = new Map([["bus", { timestampMs: NOW_MS + 60_000, latitude: 0, longitude: 7 }]]);
  const replay = new Replay([await recordingOf(northward("bus", 9))], known, 1000, NOW_MS);
  const times = [NOW_MS, NOW_MS - 1000, NOW_MS + 61_000, NOW_MS + 61_000].flatMap((nowMs) =>
    rowsOf(replay.advance(nowMs)).map(({ timestampMs }) => timestampMs - NOW_MS),
  );
  expect(times).toEqual([60_002, 61_000]);
});

test("Replay goes on however many devices the server knows", () => {
  const seen = { timestampMs: NOW_MS, latitude: 0, longitude: 7 };
  const known = new Map(Array.from({ length: 1_000_000 }, (_, device) => [String(device), seen]));
  expect([...new Replay([], known, 1, NOW_MS).history()]).toEqual([]);
});

test("Replay gives a device without speeds those of its recorded way, and skips its silences", async () => {
  const rows = [0, 10_000, 20_000, 3_620_000, 3_630_000].map((timestampMs, index) => ({
    deviceId: "bus",
    timestampMs,
    latitude: index / 1000,
    longitude: 7,
  }));
  const replay = new Replay([await recordingOf(rows)], NONE_KNOWN, 10, NOW_MS);
  const speeds = (replayed: Row[]) =>
    replayed.map(({ speed }) => (speed === undefined ? null : Math.round(speed)));
  expect(speeds(rowsOf(replay.history()))).toEqual([null, 11, 11]);
  // The recording's middle lies in the silence of an hour, of which nothing is left.
  const reported = [100, 1000, 1100].flatMap((ms) => rowsOf(replay.advance(NOW_MS + ms)));
  expect(reported.map(({ latitude }) => latitude)).toEqual([0.003, 0.004]);
  expect(speeds(reported)).toEqual([null, 11]);
});

test("Replay makes no device leap after a machine slept", async () => {
  const replay = new Replay([await recordingOf(northward("bus", 101))], NONE_KNOWN, 10, NOW_MS);
  expect(rowsOf(replay.advance(NOW_MS + 3_600_000))).toMatchObject([{ latitude: 0.51 }]);
});

const REST_MS = 600_000;

async function trackOf(timesMs: readonly number[]) {
  const rows = timesMs.map((timestampMs) => ({ deviceId: "a", timestampMs, latitude: 0, longitude: 0 }));
  return (await recordingOf(rows)).tracks[0]!;
}

test("legAt() goes to the end, rests, goes back, rests, and goes again", async () => {
  const track = await trackOf([1000, 2000, 5000]);
  const indexes = (elapsedMs: readonly number[]) => elapsedMs.map((at) => legAt(track, at)?.index);
  expect(legAt(track, -1)).toBeNull();
  expect(indexes([0, 999, 1000, 3999, 4000, 4000 + REST_MS - 1])).toEqual([0, 0, 1, 1, 2, 2]);
  const back = 4000 + REST_MS;
  expect(indexes([back, back + 2999, back + 3000, back + 3999, back + 4000])).toEqual([2, 2, 1, 1, 0]);
  expect(legAt(track, back)).toEqual({ turn: 1, index: 2 });
  expect(legAt(track, 2 * back)).toEqual({ turn: 2, index: 0 });
});

test("legAt() passes every position of a track both ways, none twice on a leg", async () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.integer({ min: 0, max: 1e9 }), async (gapsMs, firstMs) => {
      const timesMs = [firstMs];
      for (const gapMs of gapsMs) timesMs.push(timesMs.at(-1)! + gapMs);
      const track = await trackOf(timesMs);
      const spanMs = timesMs.at(-1)! - firstMs;
      const there = timesMs.map((atMs) => legAt(track, atMs - firstMs)!);
      const back = timesMs.map((atMs) => legAt(track, spanMs + REST_MS + timesMs.at(-1)! - atMs)!);
      const expected = (turn: number) => timesMs.map((_, index) => ({ turn, index }));
      expect(there).toEqual(expected(0));
      expect(back).toEqual(expected(1));
    }),
  );
});
