import { expect, test } from "bun:test";
import {
  extendedTo,
  placeOf,
  placesOf,
  positionAt,
  positionsWithin,
  recordsOf,
  remaining,
  type Selection,
  selectionOf,
} from "../../../../src/web/corrections/selection.ts";
import { trackOf } from "../history/tracks.ts";

const TRACK = trackOf([10, 20, 30, 40, 50]);

function exact(...seconds: readonly number[]): Selection {
  return selectionOf(seconds.map((second) => second * 1000));
}

test("positionsWithin() has the positions of a range with both its ends, or nothing", () => {
  expect(positionsWithin(TRACK, { startMs: 20_000, endMs: 40_000 })).toEqual(exact(20, 30, 40));
  expect(positionsWithin(TRACK, { startMs: 20_001, endMs: 39_999 })).toEqual(exact(30));
  expect(positionsWithin(TRACK, { startMs: 0, endMs: 90_000 })).toEqual(exact(10, 20, 30, 40, 50));
  expect(positionsWithin(TRACK, { startMs: 31_000, endMs: 32_000 })).toBeNull();
  expect(positionsWithin(TRACK, { startMs: 0, endMs: 9999 })).toBeNull();
});

test("positionsWithin() of a simplified track is the range itself, which may have more positions than are known", () => {
  const simplified = trackOf([10, 20, 60], { toleranceMeters: 5 });
  const within = (startMs: number, endMs: number) => positionsWithin(simplified, { startMs, endMs });
  expect(within(0, 30_000)).toEqual({
    ...{ timestampMs: [10_000, 20_000], isExact: false },
    range: { startMs: 10_000, endMs: 30_000 },
  });
  expect(within(25_000, 55_000)).toMatchObject({
    timestampMs: [],
    range: { startMs: 25_000, endMs: 55_000 },
  });
  expect([within(0, 9999), within(60_001, 90_000)]).toEqual([null, null]);
});

test("positionAt() has the position that is closest in time", () => {
  const seconds = [0, 10, 14.9, 15, 15.1, 49, 99];
  const found = seconds.map((second) => positionAt(TRACK, second * 1000)!.timestampMs[0]! / 1000);
  expect(found).toEqual([10, 10, 10, 10, 20, 50, 50]);
  expect(positionAt(trackOf([]), 5)).toBeNull();
});

test("extendedTo() reaches to the position at a time on either side, and never shrinks", () => {
  expect(extendedTo(exact(30), TRACK, 48_000)).toEqual(exact(30, 40, 50));
  expect(extendedTo(exact(30), TRACK, 0)).toEqual(exact(10, 20, 30));
  expect(extendedTo(exact(20, 30, 40), TRACK, 30_000)).toEqual(exact(20, 30, 40));
});

test("remaining() drops positions that a newer track lacks", () => {
  expect(remaining(exact(20, 25, 50), TRACK)).toEqual(exact(20, 50));
  expect(remaining(exact(25), TRACK)).toBeNull();
  expect(remaining(exact(0), TRACK)).toBeNull();
  const simplified = trackOf([10, 50], { toleranceMeters: 5 });
  expect(remaining(exact(25), simplified)).toEqual(exact(25)); // Such a track says nothing about it.
  const range = { startMs: 20_000, endMs: 90_000 };
  expect(remaining({ timestampMs: [], isExact: false, range }, simplified)).toMatchObject({
    ...{ timestampMs: [50_000], range: { startMs: 20_000, endMs: 50_000 } },
  });
});

test("recordsOf() names instants if it can, and a range without its end if there are too many", () => {
  const head = { device_id: "bus" };
  expect(recordsOf("bus", exact(20, 30))).toEqual({ ...head, timestamps: [20_000, 30_000] });
  const seconds = Array.from({ length: 1001 }, (_, index) => index);
  expect(recordsOf("bus", exact(...seconds.slice(1)))).toHaveProperty("timestamps");
  expect(recordsOf("bus", exact(...seconds))).toEqual({ ...head, start: 0, end: 1_000_001 });
  expect(recordsOf("bus", { ...exact(20, 30), isExact: false })).toEqual({
    ...head,
    ...{ start: 20_000, end: 30_001 },
  });
});

test("placesOf() has where the positions are, and not more than the map draws", () => {
  expect(placesOf(exact(20, 25, 30), TRACK, 100)).toEqual([
    { latitude: 0, longitude: 0.001 },
    { latitude: 0, longitude: 0.002 },
  ]);
  const longitudes = placesOf(exact(10, 20, 30, 40, 50), TRACK, 2).map(({ longitude }) => longitude);
  expect(longitudes).toEqual([0, 0.003]);
  expect(exact(10, 20, 50).range).toEqual({ startMs: 10_000, endMs: 50_000 });
});

test("placeOf() is of a single position, also of one that a simplified track lacks", () => {
  const place = { latitude: 3, longitude: 4 };
  expect(placeOf(exact(20), TRACK)).toEqual({ latitude: 0, longitude: 0.001 });
  expect([placeOf(exact(20, 30), TRACK), placeOf(exact(25), TRACK)]).toEqual([null, null]);
  const outlier = selectionOf([25_000], place);
  expect([placeOf(outlier, TRACK), placesOf(outlier, TRACK, 100)]).toEqual([place, [place]]);
});
