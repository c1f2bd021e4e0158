import type { DeviceId, UserId } from "../model/ids.ts";
import { parseDate } from "../model/time/range.ts";
import { MS_PER_MINUTE, MS_PER_SECOND } from "../model/time/units.ts";
import { parseZone } from "../model/time/zone.ts";
import type { ScheduleRule } from "../model/watches/schedule-rule.ts";
import type { AlertRules, WatchTerms } from "../model/watches/watch-rules.ts";

import { Schedule, WEEKDAYS } from "./schedule.ts";
import { createShape, type Shape } from "./shape.ts";
import type { Condition, WatchVersion } from "./watch.ts";

const DAYS: readonly string[] = WEEKDAYS;

/** The version with these terms, which must be valid, prepared for decisions. A fence's shape may be known already. */
export function createWatchVersion(
  terms: WatchTerms,
  number: number,
  fromMs: number,
  shape: Shape | null = null,
): WatchVersion {
  const { isActive, confirmations, confirmSeconds, schedule, devices, users } = terms.rules;
  return {
    number,
    fromMs,
    isActive,
    condition: conditionOf(terms, shape),
    confirmations,
    confirmMs: confirmSeconds * MS_PER_SECOND,
    schedule: schedule === null ? null : createSchedule(schedule),
    devices: devices === null ? null : new Set<DeviceId>(devices),
    users: users === null ? null : new Set<UserId>(users),
  };
}

function conditionOf(terms: WatchTerms, shape: Shape | null): Condition {
  if (terms.kind === "alert") return alertCondition(terms.rules);
  const { accuracyMetersMax, exitBufferMeters, dwellSeconds, silenceMinutes, initial } = terms.rules;
  return {
    kind: "area",
    shape: shape ?? createShape(terms.area),
    accuracyMetersMax,
    exitBufferMeters,
    dwellMs: dwellSeconds === null ? null : dwellSeconds * MS_PER_SECOND,
    silenceMs: silenceMinutes === null ? null : silenceMinutes * MS_PER_MINUTE,
    initial,
  };
}

function alertCondition({ type, limit }: AlertRules): Condition {
  switch (type) {
    case "speed_above":
      return { kind: type, metersPerSecond: limit };
    case "battery_below":
      return { kind: type, percent: limit };
    case "silent_for":
      return { kind: type, silenceMs: limit * MS_PER_MINUTE };
  }
}

function createSchedule({ timezone, weekly, except }: ScheduleRule): Schedule {
  const hours = weekly.map(({ days, from, to }) => ({
    days: days.map((day) => DAYS.indexOf(day)),
    fromMinutes: minutesOf(from),
    toMinutes: minutesOf(to),
  }));
  return new Schedule(
    parseZone(timezone)!,
    hours,
    except.map((date) => parseDate(date)!),
  );
}

/** Minutes since midnight of `HH:MM`. */
function minutesOf(clock: string): number {
  return Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));
}
