import { Schedule } from "../../../src/geofences/schedule.ts";
import { createShape } from "../../../src/geofences/shape.ts";
import type { Condition, Watch, WatchedRecord, WatchVersion } from "../../../src/geofences/watch.ts";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import { parseDate } from "../../../src/model/time/range.ts";
import { MS_PER_MINUTE } from "../../../src/model/time/units.ts";
import { parseZone } from "../../../src/model/time/zone.ts";
import type { PlainHours } from "../../reference/fence-events.ts";
import * as fc from "../fast-check.ts";

/*
 * Fences, alerts and journeys in which much happens: times are whole multiples of five minutes around days when clocks
 * change, so records meet the edges of schedules, versions and silences.
 */

export const DEVICE = "d1" as DeviceId;

/** A watch, the hours of its schedules, a journey, and the clock of timed events. */
export interface WatchCase {
  readonly watch: Watch;
  readonly hours: ReadonlyMap<Schedule, PlainHours>;
  /** Ordered by time. */
  readonly records: readonly WatchedRecord[];
  readonly nowMs: number;
}

const STARTS = ["2026-03-28T06:00Z", "2026-10-24T06:00Z", "2026-04-04T00:00Z"].map(Date.parse);
const ZONES = ["Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "America/Santiago"];
const TIMES = ["00:00", "02:00", "02:30", "03:00", "08:00", "17:55", "22:00", "24:00"];
const STEP_MS = 5 * MS_PER_MINUTE;
/** Three days. */
const STEPS = 3 * 24 * 12;
const METERS_PER_DEGREE = haversineMeters(0, 0, 1, 0);

/** Lengths of time in steps. */
const lengths = fc.constantFrom(0, 1, 2, 6, 12, 36, 144);
const stepsMs = lengths.map((steps) => steps * STEP_MS);
const positiveStepsMs = lengths.map((steps) => Math.max(1, steps) * STEP_MS);

export const hoursOfWeek: fc.Arbitrary<PlainHours> = fc.record({
  timezone: fc.constantFrom(...ZONES),
  weekly: fc.array(
    fc.record({
      days: fc.subarray([0, 1, 2, 3, 4, 5, 6], { minLength: 1 }),
      from: fc.constantFrom(...TIMES.slice(0, -1)),
      to: fc.constantFrom(...TIMES),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  except: fc.subarray(["2026-03-29", "2026-10-25", "2026-04-05"]),
});

/** A schedule of ours for hours as a request has them. */
export function createSchedule({ timezone, weekly, except }: PlainHours): Schedule {
  return new Schedule(
    parseZone(timezone)!,
    weekly.map(({ days, from, to }) => ({ days, fromMinutes: minutesOf(from), toMinutes: minutesOf(to) })),
    except.map((date) => parseDate(date)!),
  );
}

function minutesOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
}

const areas: fc.Arbitrary<Condition> = fc.record({
  kind: fc.constant("area" as const),
  shape: fc
    .constantFrom(60, 100, 150)
    .map((radiusMeters) => createShape({ type: "Point", latitude: 0, longitude: 0, radiusMeters })),
  accuracyMetersMax: fc.constantFrom(20, 200),
  exitBufferMeters: fc.constantFrom(0, 20),
  dwellMs: fc.option(stepsMs, { nil: null }),
  silenceMs: fc.option(positiveStepsMs, { nil: null }),
  initial: fc.constantFrom("none" as const, "event" as const),
});

const speeds: fc.Arbitrary<Condition> = fc.record({
  kind: fc.constant("speed_above" as const),
  metersPerSecond: fc.constantFrom(10, 20),
});

const charges: fc.Arbitrary<Condition> = fc.record({
  kind: fc.constant("battery_below" as const),
  percent: fc.constantFrom(15, 20),
});

const silences: fc.Arbitrary<Condition> = fc.record({
  kind: fc.constant("silent_for" as const),
  silenceMs: positiveStepsMs,
});

function rarely<Value>(odd: Value, usual: Value): fc.Arbitrary<Value> {
  return fc.constantFrom(...Array.from({ length: 9 }, () => usual), odd);
}

const rules = fc.record({
  isActive: rarely(false, true),
  confirmations: fc.constantFrom(1, 1, 2, 3),
  confirmMs: fc.constantFrom(0, 0, STEP_MS, 4 * STEP_MS),
  devices: rarely(new Set<DeviceId>(), new Set([DEVICE])),
  users: rarely(new Set(["u1" as UserId]), null),
});

const places = fc.record({
  userId: fc.constantFrom("u1" as UserId, "u2" as UserId),
  /** Meters from the center of all areas. */
  latitude: fc
    .constantFrom(0, 40, 58, 70, 95, 105, 118, 125, 150, 165, 400)
    .map((meters) => meters / METERS_PER_DEGREE),
  longitude: fc.constant(0),
  accuracyMeters: fc.constantFrom(null, 0, 0, 10, 10, 10, 50, 150, 250),
  metersPerSecond: fc.constantFrom(null, 5, 10, 15, 25),
  batteryPercent: fc.constantFrom(null, 10, 15, 18, 20, 25, 90),
});

/** Some watches of one journey. */
export interface WatchSet extends Pick<WatchCase, "records" | "nowMs" | "hours"> {
  readonly watches: readonly Watch[];
}

/** All versions of a case have one kind of condition, since a fence never becomes an alert. */
function casesOf(conditions: fc.Arbitrary<Condition>, recordsMax: number): fc.Arbitrary<WatchCase> {
  const versions = fc.uniqueArray(
    fc.record({
      fromStep: fc.integer({ min: 0, max: STEPS }),
      condition: conditions,
      rule: rules,
      hours: fc.oneof(fc.constant(null), hoursOfWeek),
    }),
    { minLength: 1, maxLength: 3, selector: ({ fromStep }) => fromStep },
  );
  return fc
    .record({
      startMs: fc.constantFrom(...STARTS),
      versions,
      deletedStep: fc.option(fc.integer({ min: 0, max: STEPS }), { freq: 5 }),
      stops: fc.uniqueArray(fc.record({ step: fc.integer({ min: 0, max: STEPS }), place: places }), {
        minLength: 1,
        maxLength: recordsMax,
        size: "max",
        selector: ({ step }) => step,
      }),
      nowStep: fc.oneof(fc.constant(2 * STEPS), fc.integer({ min: 0, max: STEPS })),
    })
    .map(({ startMs, versions, deletedStep, stops, nowStep }) => {
      const hours = new Map<Schedule, PlainHours>();
      const ordered = versions.toSorted((a, b) => a.fromStep - b.fromStep);
      const watchVersions = ordered.map((version, index): WatchVersion => {
        const schedule = version.hours === null ? null : createSchedule(version.hours);
        if (schedule !== null) hours.set(schedule, version.hours!);
        // The first version is mostly older than the records.
        const fromMs =
          index === 0 && version.fromStep % 4 > 0 ? startMs : startMs + version.fromStep * STEP_MS;
        const { condition, rule } = version;
        const isSilence = condition.kind === "silent_for";
        const confirmation = isSilence ? { confirmations: 1, confirmMs: 0 } : {};
        return { number: index + 1, fromMs, condition, schedule, ...rule, ...confirmation };
      });
      const lastStep = ordered.at(-1)!.fromStep;
      const watch = {
        appId: "app" as AppId,
        id: "watch",
        versions: watchVersions,
        deletedMs: deletedStep === null ? null : startMs + Math.max(lastStep + 1, deletedStep) * STEP_MS,
      };
      const records = stops
        .toSorted((a, b) => a.step - b.step)
        .map(({ step, place }) => ({ timestampMs: startMs + step * STEP_MS, ...place }));
      return { watch, hours, records, nowMs: startMs + nowStep * STEP_MS };
    });
}

export function watchCases(recordsMax: number): fc.Arbitrary<WatchCase> {
  return fc.oneof(
    { arbitrary: casesOf(areas, recordsMax), weight: 4 },
    { arbitrary: casesOf(speeds, recordsMax), weight: 1 },
    { arbitrary: casesOf(charges, recordsMax), weight: 1 },
    { arbitrary: casesOf(silences, recordsMax), weight: 2 },
  );
}

export function watchSets(recordsMax: number): fc.Arbitrary<WatchSet> {
  return fc.array(watchCases(recordsMax), { minLength: 1, maxLength: 4 }).map((cases) => {
    const [{ records, nowMs, watch: first }] = cases as [WatchCase, ...WatchCase[]];
    const startMs = startOf(first);
    const watches = cases.map(({ watch }, index) =>
      movedBy(watch, startMs - startOf(watch), `watch-${index}`),
    );
    const hours = new Map(cases.flatMap((each) => [...each.hours]));
    return { watches, hours, records, nowMs };
  });
}

function startOf({ versions }: Watch): number {
  return Math.max(...STARTS.filter((startMs) => startMs <= versions[0]!.fromMs));
}

function movedBy({ appId, versions, deletedMs }: Watch, byMs: number, id: string): Watch {
  return {
    appId,
    id,
    versions: versions.map((version) => ({ ...version, fromMs: version.fromMs + byMs })),
    deletedMs: deletedMs === null ? null : deletedMs + byMs,
  };
}
