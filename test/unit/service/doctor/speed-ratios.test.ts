import { describe, expect, test } from "bun:test";
import { type Fix, SpeedRatios } from "../../../../src/service/doctor/speed-ratios.ts";

const HOUR_MS = 3_600_000;
const METERS_PER_DEGREE = (6_371_008.8 * Math.PI) / 180;
const KNOWN = { longitude: 7, accuracyMeters: 5 };

interface Drive {
  readonly hours?: number;
  readonly pairsPerHour?: number;
  readonly seconds?: number;
  readonly metersPerSecond?: number;
  readonly accuracyMeters?: number;
  /** Of the speed that positions tell, by the pair. */
  readonly ratio?: (pair: number) => number;
}

/** The median after a drive due north, with a break before each hour. */
function afterDrive(drive: Drive): number | null {
  const { hours = 3, pairsPerHour = 10, seconds = 10, metersPerSecond = 10 } = drive;
  const { ratio = () => 1, accuracyMeters = 5 } = drive;
  const ratios = new SpeedRatios();
  ratios.clear(0);
  for (let hour = 0; hour < hours; hour++) {
    for (let pair = 0; pair <= pairsPerHour; pair++) {
      const meters = pair * seconds * metersPerSecond;
      ratios.note(0, {
        ...KNOWN,
        accuracyMeters,
        timestampMs: Date.UTC(2026, 2, 20, hour) + pair * seconds * 1000,
        latitude: 50 + meters / METERS_PER_DEGREE,
        speed: metersPerSecond * ratio(hour * pairsPerHour + pair),
      });
    }
  }
  return ratios.median(0);
}

describe("SpeedRatios.median()", () => {
  test("is the ratio of reported speeds to those of positions", () => {
    expect(afterDrive({ ratio: () => 3.6 })).toBeCloseTo(3.6, 4);
    expect(afterDrive({ seconds: 5, metersPerSecond: 10.1 })).toBeCloseTo(1, 4);
    expect(afterDrive({ seconds: 120 })).toBeCloseTo(1, 4);
    expect(afterDrive({ accuracyMeters: Number.NaN })).toBeCloseTo(1, 4);
  });

  test.each([
    ["two hours", { hours: 2, pairsPerHour: 40 }],
    ["29 pairs", { pairsPerHour: 9, hours: 3 }],
    ["pairs too far apart in time", { seconds: 121 }],
    ["a path of less than 50 m", { hours: 90, pairsPerHour: 1, seconds: 5, metersPerSecond: 9.9 }],
    ["a path within the accuracy", { accuracyMeters: 17 }],
    ["speeds below 2 m/s", { ratio: () => 0.19 }],
    ["ratios that differ too much", { ratio: (pair: number) => (pair % 2 === 0 ? 1 : 3.6) }],
    ["no speeds", { ratio: () => Number.NaN }],
  ])("is not known of %s", (_what, drive) => {
    expect(afterDrive(drive)).toBeNull();
  });

  test("takes ten pairs of an hour, so that a busy one can't decide alone", () => {
    expect(
      afterDrive({ hours: 3, pairsPerHour: 200, ratio: (pair) => (pair % 200 <= 10 ? 1 : 3.6) }),
    ).toBeCloseTo(1, 4);
  });

  test("measures across positions that are too close, as a phone sends them each second", () => {
    expect(afterDrive({ seconds: 1, pairsPerHour: 60, ratio: () => 3.6 })).toBeCloseTo(3.6, 4);
  });

  test("does not take the time at a stop for driving", () => {
    const ratios = new SpeedRatios();
    ratios.clear(0);
    for (const hour of [0, 1, 2]) {
      for (let pair = 0; pair <= 10; pair++) {
        // A minute at the stop, told of every 20 s, then 60 m in 6 s.
        for (const second of [0, 20, 40, 60])
          ratios.note(0, northOf(hour * HOUR_MS + pair * 66_000 + second * 1000, pair * 60));
      }
    }
    expect(ratios.median(0)).toBeCloseTo(1, 4);
  });

  test("passes a few wrong ones over, and follows a unit that was set right", () => {
    expect(afterDrive({ ratio: (pair) => (pair % 6 === 0 ? 40 : 1) })).toBeCloseTo(1, 4);
    expect(afterDrive({ hours: 6, ratio: (pair) => (pair < 30 ? 3.6 : 1) })).toBeCloseTo(1, 4);
  });

  test("begins anew where the slot is another's", () => {
    const ratios = new SpeedRatios();
    for (const hour of [0, 1, 2])
      for (let pair = 0; pair <= 10; pair++)
        ratios.note(0, northOf(hour * HOUR_MS + pair * 10_000, pair * 100));
    expect(ratios.median(0)).toBeCloseTo(1, 4);
    ratios.clear(0);
    expect(ratios.median(0)).toBeNull();
  });
});

function northOf(afterMs: number, meters: number): Fix {
  const latitude = 50 + meters / METERS_PER_DEGREE;
  return { ...KNOWN, timestampMs: Date.UTC(2026, 2, 20) + afterMs, latitude, speed: 10 };
}
