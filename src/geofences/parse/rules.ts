import { fail, ok, type Result } from "../../lib/result.ts";
import { type DeviceProfile, isText, parseDeviceProfile } from "../../model/device-profile.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";
import { deviceIdFault, userIdFault } from "../../model/report.ts";
import { parseDate } from "../../model/time/range.ts";
import { parseZone } from "../../model/time/zone.ts";
import type { ScheduleRule, WeeklyRule } from "../../model/watches/schedule-rule.ts";
import {
  type AlertRules,
  type FenceRules,
  RULES_DEFAULTS,
  type WatchLook,
} from "../../model/watches/watch-rules.ts";
import { WEEKDAYS } from "../schedule.ts";
import {
  boolean,
  choice,
  integer,
  list,
  number,
  optional,
  type Parser,
  type Parsers,
  parseMembers,
  text,
} from "./members.ts";

/* The properties of fences and alerts, as clients write them. */

export const DESCRIPTION_CHARACTERS_MAX = 1024;
/** Devices, or users, that a fence or an alert applies to. */
export const SUBJECTS_MAX = 1000;
export const WEEKLY_MAX = 50;
export const EXCEPTIONS_MAX = 366;

export const EXTENT_METERS_MIN = 10;
export const EXTENT_METERS_MAX = 100_000;
export const SECONDS_MAX = 31 * 86_400;
export const MINUTES_MAX = 31 * 1440;

type ProfileMember = "name" | "color" | "tags" | "metadata";

/** A member that devices have in their profiles, too. */
function ofProfile<Name extends ProfileMember>(name: Name): Parser<DeviceProfile[Name]> {
  return (value, path) => {
    const parsed = parseDeviceProfile({ [name]: value });
    return parsed.ok ? ok(parsed.value[name]) : fail(path + parsed.error.slice(name.length));
  };
}

const description = text((value) =>
  isText(value, DESCRIPTION_CHARACTERS_MAX)
    ? null
    : `must be 1 to ${DESCRIPTION_CHARACTERS_MAX.toLocaleString("en")} characters, none of them control characters`,
);

const LOOK: Parsers<WatchLook> = {
  name: ofProfile("name"),
  description: optional(description, null),
  color: ofProfile("color"),
  tags: ofProfile("tags"),
  metadata: ofProfile("metadata"),
};

const CLOCK = /^([01][0-9]|2[0-3]):[0-5][0-9]$/;

const clock = text((value) => (CLOCK.test(value) ? null : "must be a time, HH:MM"));

const WEEKLY: Parsers<WeeklyRule> = {
  days: list(choice(WEEKDAYS), 1, WEEKDAYS.length),
  from: clock,
  to: untilMidnight,
};

/** A time, or the midnight at the end of the day. */
function untilMidnight(value: unknown, path: string): Result<string, string> {
  return value === "24:00" ? ok(value) : clock(value, path);
}

const SCHEDULE: Parsers<ScheduleRule> = {
  timezone: text((value) =>
    parseZone(value) === null ? "must be an IANA name, an offset such as +05:30, or UTC" : null,
  ),
  weekly: list((value, path) => parseMembers(value, path, WEEKLY), 1, WEEKLY_MAX),
  except: optional(
    list(
      text((value) => (parseDate(value) === null ? "must be an existing date, YYYY-MM-DD" : null)),
      0,
      EXCEPTIONS_MAX,
    ),
    [],
  ),
};

const schedule: Parser<ScheduleRule> = (value, path) => parseMembers(value, path, SCHEDULE);

/** What fences and alerts have alike, by the names of clients. */
interface Common extends WatchLook {
  readonly active: boolean;
  readonly confirm_seconds: number;
  readonly confirmations: number;
  readonly schedule: ScheduleRule | null;
  readonly devices: readonly DeviceId[] | null;
  readonly users: readonly UserId[] | null;
}

function idOf<Id extends string>(faultOf: (id: string) => string | null, noun: string): Parser<Id> {
  return text<Id>((id) => (faultOf(id) === null ? null : `must be ${noun}, of 1 to 128 characters`));
}

const FENCE = RULES_DEFAULTS.fence;

const COMMON: Parsers<Common> = {
  ...LOOK,
  active: optional(boolean, FENCE.isActive),
  confirm_seconds: optional(integer(0, SECONDS_MAX), FENCE.confirmSeconds),
  confirmations: optional(integer(1, 100), FENCE.confirmations),
  schedule: optional(schedule, null),
  devices: optional(list(idOf<DeviceId>(deviceIdFault, "a device's id"), 1, SUBJECTS_MAX), null),
  users: optional(list(idOf<UserId>(userIdFault, "a user's id"), 1, SUBJECTS_MAX), null),
};

export interface FenceProperties extends Common {
  readonly accuracy_meters_max: number;
  readonly exit_buffer_meters: number;
  readonly dwell_seconds: number | null;
  readonly silence_minutes: number | null;
  readonly initial: "none" | "event";
  readonly radius_meters: number | null;
  readonly buffer_meters: number | null;
}

/** How far a circle reaches from its center, and a corridor to each of its sides. */
const extent = optional(number(EXTENT_METERS_MIN, EXTENT_METERS_MAX), null);

const FENCE_PROPERTIES: Parsers<FenceProperties> = {
  ...COMMON,
  accuracy_meters_max: optional(number(1, 100_000), FENCE.accuracyMetersMax),
  exit_buffer_meters: optional(number(0, 10_000), FENCE.exitBufferMeters),
  dwell_seconds: optional(integer(1, SECONDS_MAX), null),
  silence_minutes: optional(integer(1, MINUTES_MAX), null),
  initial: optional(choice(["none", "event"]), FENCE.initial),
  radius_meters: extent,
  buffer_meters: extent,
};

export function parseFenceProperties(value: unknown): Result<FenceProperties, string> {
  return parseMembers(value ?? {}, "properties", FENCE_PROPERTIES);
}

export interface AlertMembers extends Common {
  readonly speed_above: number | null;
  readonly battery_below: number | null;
  readonly silent_for: number | null;
}

const ALERT: Parsers<AlertMembers> = {
  ...COMMON,
  speed_above: optional(number(0, 1000), null),
  battery_below: optional(number(0, 100), null),
  silent_for: optional(integer(1, MINUTES_MAX), null),
};

export function parseAlertMembers(value: unknown): Result<AlertMembers, string> {
  return parseMembers(value, "", ALERT);
}

export function lookOf({ name, description, color, tags, metadata }: Common): WatchLook {
  return { name, description, color, tags, metadata };
}

export function fenceRulesOf(properties: FenceProperties): FenceRules {
  return {
    ...commonRulesOf(properties),
    accuracyMetersMax: properties.accuracy_meters_max,
    exitBufferMeters: properties.exit_buffer_meters,
    dwellSeconds: properties.dwell_seconds,
    silenceMinutes: properties.silence_minutes,
    initial: properties.initial,
  };
}

export function commonRulesOf(common: Common): Omit<AlertRules, "type" | "limit"> {
  return {
    isActive: common.active,
    confirmSeconds: common.confirm_seconds,
    confirmations: common.confirmations,
    schedule: common.schedule,
    devices: common.devices,
    users: common.users,
  };
}
