import { describe, expect, test } from "bun:test";
import { Track } from "../../../../src/web/history/track.ts";
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
