import { describe, expect, test } from "bun:test";
import { NO_ENDS } from "../../../../src/web/history/history.ts";
import { type Chapter, chapterAt, storyOf, type Trip } from "../../../../src/web/history/story.ts";
import { trackOf } from "./tracks.ts";

const STEP_METERS = 111.195;

const placeOf = (name: string) => ({ name, country: "GB", distance_miles: 1, bearing_degrees: 0 });

/** A stop between these seconds. */
const stopOf = (start: number, end: number, name = "Town") => ({
  ...{ start: start * 1000, end: end * 1000, latitude: 0, longitude: 0 },
  place: placeOf(name),
});

const kindsOf = (story: readonly Chapter[]) => story.map(({ kind }) => kind);
const tripsOf = (story: readonly Chapter[]) => story.filter((each): each is Trip => each.kind === "trip");

/** A position each minute, 111 m from the one before. */
const track = trackOf(Array.from({ length: 61 }, (_, minute) => minute * 60));

describe("a day as a story", () => {
  test("is stay, trip, stay: a trip leads from the end of a stop to the beginning of the next", () => {
    const stops = [stopOf(0, 600, "Home"), stopOf(1200, 1800, "Work"), stopOf(3000, 3600, "Home")];
    const story = storyOf(track, { stops }, NO_ENDS, null);
    expect(kindsOf(story)).toEqual(["stay", "trip", "stay", "trip", "stay"]);
    expect(
      tripsOf(story).map(({ startMs, endMs, from, to }) => [startMs, endMs, from?.name, to?.name]),
    ).toEqual([
      [600_000, 1_200_000, "Home", "Work"],
      [1_800_000, 3_000_000, "Work", "Home"],
    ]);
    const [there, back] = tripsOf(story);
    expect(there!.meters).toBeCloseTo(10 * STEP_METERS, 0);
    expect(back!.meters).toBeCloseTo(20 * STEP_METERS, 0);
    expect([there!.movingMs, there!.topSpeed]).toEqual([600_000, null]);
    expect(there!.bounds).toEqual({ west: 0.01, south: 0, east: 0.02, north: 0 });
  });

  test("begins and ends with a trip if the device was on its way", () => {
    const ends = { start: placeOf("North"), end: null };
    const story = storyOf(track, { stops: [stopOf(1200, 1800)] }, ends, null);
    expect(kindsOf(story)).toEqual(["trip", "stay", "trip"]);
    expect(tripsOf(story).map(({ from, to }) => [from?.name, to?.name])).toEqual([
      ["North", "Town"],
      ["Town", undefined],
    ]);
    expect(kindsOf(storyOf(track, { stops: [] }, NO_ENDS, null))).toEqual(["trip"]);
  });

  test("has no trips of 200 m or less", () => {
    const between = (minutes: number) => ({ stops: [stopOf(0, 600), stopOf(600 + minutes * 60, 3600)] });
    expect(kindsOf(storyOf(track, between(1), NO_ENDS, null))).toEqual(["stay", "stay"]);
    expect(kindsOf(storyOf(track, between(2), NO_ENDS, null))).toEqual(["stay", "trip", "stay"]);
  });

  test("counts no way and no time over a silence", () => {
    const broken = trackOf([0, 60, 120, 180, 2400, 2460, 2520], { gaps: [4] });
    const [trip] = tripsOf(storyOf(broken, { stops: [] }, NO_ENDS, null));
    expect(trip!.meters).toBeCloseTo(5 * STEP_METERS, 0);
    expect([trip!.startMs, trip!.endMs, trip!.movingMs]).toEqual([0, 2_520_000, 300_000]);
  });

  test("has the top speed of each trip from the plot, not from the distance", () => {
    const values = [50, 10, 20, null, 70];
    const speed = { timestamp: [300, 700, 1100, 1150, 2000], min: values, max: values, last: values };
    const stops = [stopOf(0, 600), stopOf(1200, 3600)];
    expect(tripsOf(storyOf(track, { stops }, NO_ENDS, speed)).map(({ topSpeed }) => topSpeed)).toEqual([20]);
  });

  test("of a simplified line leads from stop to stop, since the line may lack positions there", () => {
    // Two positions an hour apart are the whole line: everything between them lies on it.
    const simple = trackOf([0, 3600], { toleranceMeters: 50 });
    const at = (start: number, end: number, longitude: number) => ({ ...stopOf(start, end), longitude });
    const stops = [at(0, 600, 0), at(1200, 1800, 0.1)];
    const [there, on] = tripsOf(storyOf(simple, { stops }, NO_ENDS, null));
    expect(there!.meters).toBeCloseTo(100 * STEP_METERS, -1);
    expect(there!.bounds).toEqual({ west: 0, south: 0, east: 0.1, north: 0 });
    expect(on!.meters).toBeCloseTo(99 * STEP_METERS, -1);
    const broken = trackOf([0, 3600], { toleranceMeters: 50, gaps: [1] });
    expect(tripsOf(storyOf(broken, { stops }, NO_ENDS, null))).toEqual([]);
  });

  test("is empty without positions", () => {
    expect(storyOf(trackOf([]), { stops: [] }, NO_ENDS, null)).toEqual([]);
  });
});

test("the chapter at the clock is the first that it is in", () => {
  const story = storyOf(track, { stops: [stopOf(0, 600), stopOf(1200, 3600)] }, NO_ENDS, null);
  expect([0, 600_000, 700_000, 3_600_000].map((ms) => chapterAt(story, ms))).toEqual([0, 0, 1, 2]);
  expect(chapterAt(story, 3_600_001)).toBeNull();
});
