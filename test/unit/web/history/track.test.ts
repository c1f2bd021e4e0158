import { describe, expect, test } from "bun:test";
import { headAt, Track } from "../../../../src/web/history/track.ts";
import * as fc from "../../../support/fast-check.ts";
import { trackOf } from "./tracks.ts";

const MINUTE = 60_000;

describe("lines", () => {
  test("break where the server says, and lone positions are none", () => {
    const track = trackOf([0, 10, 20, 30, 40], { gaps: [2, 3] });
    expect(track.lines()).toEqual([
      [
        [0, 0],
        [0.001, 0],
      ],
      [
        [0.003, 0],
        [0.004, 0],
      ],
    ]);
  });

  test("are cut where they are long, and go on from the same position", () => {
    const lines = trackOf(Array.from({ length: 10_000 }, (_, second) => second)).lines();
    expect(lines.map(({ length }) => length)).toEqual([4096, 4096, 1810]);
    expect(lines[1]![0]).toEqual(lines[0]!.at(-1)!);
    expect(lines[2]![0]).toEqual(lines[1]!.at(-1)!);
  });

  test("there is none of nothing", () => {
    const track = trackOf([]);
    expect([track.lines(), track.range, track.indexAt(5)]).toEqual([[], null, -1]);
  });
});

describe("append()", () => {
  test("goes on with the line", () => {
    const track = trackOf([0, 10]);
    expect(track.append(20_000, 0, 0.002)).toBe(true);
    expect(track.lines()[0]).toHaveLength(3);
    expect(track.range).toEqual({ startMs: 0, endMs: 20_000 });
  });

  test("takes nothing that is as old as what there is", () => {
    const track = trackOf([0, 10]);
    expect(track.append(10_000, 1, 1)).toBe(false);
    expect(track.append(5_000, 1, 1)).toBe(false);
    expect(track.count).toBe(2);
  });

  test("begins another line after more than 10 minutes of silence", () => {
    const track = trackOf([0]);
    track.append(10 * MINUTE, 0, 0.001);
    expect(track.isJoined(1)).toBe(true);
    track.append(20 * MINUTE + 1, 0, 0.001);
    expect(track.isJoined(2)).toBe(false);
  });

  test("begins another line where the device would have been faster than 400 m/s", () => {
    const track = trackOf([0]);
    track.append(10_000, 0, 0.035); // 3.89 km
    expect(track.isJoined(1)).toBe(true);
    track.append(20_000, 0, 0.072); // 4.11 km
    expect(track.isJoined(2)).toBe(false);
  });

  test("begins the first line of an empty day", () => {
    const track = trackOf([]);
    track.append(1000, 1, 2);
    track.append(2000, 1, 2.001);
    expect(track.lines()).toHaveLength(1);
  });

  test("knows that ±180° is a place like any other", () => {
    const track = new Track({
      ...{ total: 1, tolerance_meters: 0, gaps: [] },
      ...{ timestamp: [0], latitude: [0], longitude: [179.999] },
    });
    track.append(10_000, 0, -179.999);
    expect(track.isJoined(1)).toBe(true);
  });
});

test("a silence is what nobody reported in for more than 10 minutes", () => {
  const track = trackOf([0, 60, 61 + 600, 62 + 600], { gaps: [2, 3] });
  expect(track.silenceAt(60_000)).toBeNull();
  expect(track.silenceAt(60_001)).toEqual({ startMs: 60_000, endMs: 661_000 });
  expect(track.silenceAt(661_000)).toBeNull();
  expect(track.silenceAt(661_500)).toBeNull(); // A leap, not a silence.
  expect(track.silenceAt(700_000)).toBeNull(); // What comes after the last nobody knows.
});

describe("headAt()", () => {
  test("is between two positions as far as the time is", () => {
    const track = trackOf([0, 10, 20]);
    expect(headAt(track, 12_500)).toEqual({ latitude: 0, longitude: 0.00125, bearing: 90 });
    expect(headAt(track, 20_000)?.longitude).toBe(0.002);
  });

  test("is nowhere before the first position, and stays at the last", () => {
    const track = trackOf([5, 10]);
    expect(headAt(track, 4_999)).toBeNull();
    expect(headAt(track, 99_000)?.longitude).toBe(0.001);
  });

  test("stays where it was over a gap and over a leap", () => {
    const track = trackOf([0, 10, 800, 806], { gaps: [2, 3] });
    for (const ms of [10_000, 400_000, 799_999]) expect(headAt(track, ms)?.longitude).toBe(0.001);
    expect(headAt(track, 800_000)).toEqual({ latitude: 0, longitude: 0.002, bearing: null });
    expect(headAt(track, 803_000)?.longitude).toBe(0.002);
  });

  test("points the way it went last, while it stands", () => {
    const track = new Track({
      ...{ total: 4, tolerance_meters: 0, gaps: [] },
      ...{ timestamp: [0, 10, 20, 30], latitude: [0, 1, 1, 1], longitude: [0, 0, 0, 0] },
    });
    expect(headAt(track, 25)).toEqual({ latitude: 1, longitude: 0, bearing: 0 });
  });

  test("goes the short way over ±180°", () => {
    const track = new Track({
      ...{ total: 2, tolerance_meters: 0, gaps: [] },
      ...{ timestamp: [0, 10], latitude: [0, 0], longitude: [179, -179] },
    });
    expect(headAt(track, 5)).toEqual({ latitude: 0, longitude: -180, bearing: 90 });
    expect(headAt(track, 8)?.longitude).toBeCloseTo(-179.4, 9);
  });

  test("is at positions and on lines only, at any instant", () => {
    const steps = fc.array(
      fc.tuple(fc.integer({ min: 1, max: 2_000_000 }), fc.integer({ min: -3, max: 3 })),
      {
        minLength: 1,
        maxLength: 30,
      },
    );
    const property = fc.property(steps, fc.double({ min: 0, max: 1, noNaN: true }), (moves, part) => {
      const track = trackOf([0]);
      let [ms, longitude] = [0, 0];
      for (const [elapsedMs, hops] of moves) {
        ms += elapsedMs;
        longitude += hops * 0.02;
        track.append(ms, 0, longitude);
      }
      const at = Math.round(part * ms);
      const index = track.timestampMs.findLastIndex((each) => each <= at);
      const [from, to] = [track.longitude[index]!, track.longitude[index + 1] ?? 0];
      const head = headAt(track, at)!;
      const elapsedMs = (track.timestampMs[index + 1] ?? 0) - track.timestampMs[index]!;
      const leaps = Math.abs(to - from) * 111_195 > (400 * elapsedMs) / 1000;
      const isBroken = index === track.count - 1 || elapsedMs > 600_000 || leaps;
      if (isBroken) expect(head.longitude).toBe(from);
      else {
        const even = from + ((to - from) * (at - track.timestampMs[index]!)) / elapsedMs;
        expect(head.longitude).toBeCloseTo(even, 9);
      }
    });
    fc.assert(property, { numRuns: 500 });
  });
});
