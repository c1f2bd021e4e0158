import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  CORRECTION_ACTIONS,
  CORRECTION_NOTE_CHARACTERS_MAX,
  type CorrectionAction,
  type CorrectionTarget,
} from "../../model/correction.ts";
import { BoundingBox } from "../../model/geo/bounding-box.ts";
import { haversineMeters } from "../../model/geo/distance.ts";
import type { DeviceId } from "../../model/ids.ts";
import { deviceIdFault, userIdFault } from "../../model/report.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";

/** A correction as a client asks for it. */
export interface NewCorrection {
  readonly action: CorrectionAction;
  readonly deviceId: DeviceId;
  readonly selection: Selection;
  /** How answers are to show the records; null if they are not. */
  readonly target: CorrectionTarget | null;
  readonly note: string | null;
  /** Whether it is about all that the device reports, before and after it. */
  readonly isOfDevice: boolean;
}

/** Which records of a device a correction touches. */
export interface Selection {
  /** Sorted, each once; null if the range decides. */
  readonly timestampMs: Float64Array | null;
  readonly range: TimeRange;
  /** Whether a record in the range matches; NaN if it has no accuracy. */
  matches(latitude: number, longitude: number, accuracyMeters: number): boolean;
  /** The members that were given, less a list of timestamps. */
  readonly members: Readonly<Record<string, unknown>>;
}

export const TIMESTAMPS_MAX = 1000;
export const RANGE_DAYS_MAX = 366;
const ACCURACY_METERS_MAX = 10_000_000;

const RANGE_MEMBERS = ["start", "end", "bbox", "circle", "accuracy_above"];
const SELECTION_MEMBERS = ["timestamps", ...RANGE_MEMBERS];
/** The members of one action alone. */
const TARGET_MEMBERS: Readonly<Record<CorrectionAction, readonly string[]>> = {
  hide: [],
  move: ["latitude", "longitude", "horizontal_accuracy"],
  shift_time: ["by_ms"],
  assign: ["to_device_id", "to_user_id"],
};

function membersOf(action: CorrectionAction): readonly string[] {
  return ["action", "device_id", ...SELECTION_MEMBERS, ...TARGET_MEMBERS[action], "note"];
}

/** Parses the members of a JSON object, of which null counts as absent. The error is a sentence. */
export function parseNewCorrection(given: Readonly<Record<string, unknown>>): Result<NewCorrection, string> {
  const members = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  const { action, device_id: deviceId, note = null } = members;
  const known = CORRECTION_ACTIONS.find((each) => each === action);
  if (known === undefined) return fail(`action must be one of ${CORRECTION_ACTIONS.join(", ")}`);
  const stranger = Object.keys(members).find((name) => !membersOf(known).includes(name));
  if (stranger !== undefined)
    return fail(`a correction with action ${known} has ${membersOf(known).join(", ")}, and no other members`);
  if (typeof deviceId !== "string" || deviceIdFault(deviceId) !== null)
    return fail("device_id must be 1 to 128 characters, none of them control characters");
  if (
    note !== null &&
    !(typeof note === "string" && note.length <= CORRECTION_NOTE_CHARACTERS_MAX && note.isWellFormed())
  )
    return fail(`note must be at most ${CORRECTION_NOTE_CHARACTERS_MAX} characters`);
  const isOfDevice = known === "assign" && SELECTION_MEMBERS.every((name) => members[name] === undefined);
  const selection = isOfDevice ? ok(EVERYTHING) : parseSelection(members);
  if (!selection.ok) return selection;
  const target = parseTarget(known, deviceId as DeviceId, members);
  if (!target.ok) return target;
  return ok({
    action: known,
    deviceId: deviceId as DeviceId,
    selection: selection.value,
    target: target.value,
    note: note as string | null,
    isOfDevice,
  });
}

const EVERYTHING: Selection = {
  timestampMs: null,
  range: { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY },
  matches: () => true,
  members: {},
};

function parseSelection(members: Readonly<Record<string, unknown>>): Result<Selection, string> {
  return members.timestamps === undefined ? parseRange(members) : parseTimestamps(members);
}

function parseTarget(
  action: CorrectionAction,
  deviceId: DeviceId,
  members: Readonly<Record<string, unknown>>,
): Result<CorrectionTarget | null, string> {
  if (action === "hide") return ok(null);
  const same: CorrectionTarget = { deviceId, byMs: 0, position: null, userId: null };
  if (action === "shift_time") {
    const { by_ms: byMs } = members;
    if (!Number.isSafeInteger(byMs) || byMs === 0)
      return fail("by_ms is required: a whole number of milliseconds, not 0");
    return ok({ ...same, byMs: byMs as number });
  }
  if (action === "assign") return parseAssignment(same, members);
  const { latitude, longitude, horizontal_accuracy: accuracyMeters = null } = members;
  if (!isBetween(latitude, -90, 90) || !isBetween(longitude, -180, 180))
    return fail("latitude, between -90 and 90, and longitude, between -180 and 180, are required");
  if (accuracyMeters !== null && !isBetween(accuracyMeters, 0, ACCURACY_METERS_MAX))
    return fail(`horizontal_accuracy must be between 0 and ${ACCURACY_METERS_MAX}`);
  return ok({ ...same, position: { latitude, longitude, accuracyMeters } });
}

function parseAssignment(
  same: CorrectionTarget,
  { to_device_id: toDeviceId = null, to_user_id: toUserId = null }: Readonly<Record<string, unknown>>,
): Result<CorrectionTarget, string> {
  if (toDeviceId === null && toUserId === null) return fail("to_device_id or to_user_id is required");
  if (toDeviceId === same.deviceId) return fail("to_device_id must be another device");
  if (toDeviceId !== null && (typeof toDeviceId !== "string" || deviceIdFault(toDeviceId) !== null))
    return fail("to_device_id must be 1 to 128 characters, none of them control characters");
  const userFault = typeof toUserId === "string" ? userIdFault(toUserId) : "to_user_id must be a text";
  if (toUserId !== null && userFault !== null) return fail(userFault.replace(/^user_id/, "to_user_id"));
  const deviceId = toDeviceId === null ? same.deviceId : (toDeviceId as DeviceId);
  return ok({ ...same, deviceId, userId: toUserId as string | null });
}

function parseTimestamps(members: Readonly<Record<string, unknown>>): Result<Selection, string> {
  const { timestamps } = members;
  if (RANGE_MEMBERS.some((name) => members[name] !== undefined))
    return fail(`timestamps can't be combined with ${RANGE_MEMBERS.join(", ")}`);
  const isList = Array.isArray(timestamps) && timestamps.length > 0 && timestamps.length <= TIMESTAMPS_MAX;
  if (!isList || !timestamps.every(isInstant))
    return fail(`timestamps must be 1 to ${TIMESTAMPS_MAX} whole numbers, Unix milliseconds`);
  const timestampMs = Float64Array.from(new Set<number>(timestamps)).sort();
  return ok({
    timestampMs,
    range: { startMs: timestampMs[0]!, endMs: timestampMs.at(-1)! + 1 },
    matches: () => true,
    members: {},
  });
}

function parseRange(members: Readonly<Record<string, unknown>>): Result<Selection, string> {
  const { start, end, bbox, circle, accuracy_above: accuracyAbove } = members;
  if (!isInstant(start) || !isInstant(end))
    return fail("timestamps, or start and end, are required: whole numbers, Unix milliseconds");
  if (end <= start) return fail("end must be after start");
  if (end - start > RANGE_DAYS_MAX * MS_PER_DAY)
    return fail(`start and end must be at most ${RANGE_DAYS_MAX} days apart: make several corrections`);
  const box = parseBox(bbox);
  if (!box.ok) return box;
  const within = parseCircle(circle);
  if (!within.ok) return within;
  if (accuracyAbove !== undefined && !isBetween(accuracyAbove, 0, ACCURACY_METERS_MAX))
    return fail(`accuracy_above must be between 0 and ${ACCURACY_METERS_MAX}`);
  const { value: area } = box;
  const { value: disc } = within;
  return ok({
    timestampMs: null,
    range: { startMs: start, endMs: end },
    matches: (latitude, longitude, accuracyMeters) =>
      (area === null || area.contains(latitude, longitude)) &&
      (disc === null || disc(latitude, longitude)) &&
      (accuracyAbove === undefined || accuracyMeters > accuracyAbove),
    members: Object.fromEntries(
      RANGE_MEMBERS.filter((name) => members[name] !== undefined).map((name) => [name, members[name]]),
    ),
  });
}

function parseBox(value: unknown): Result<BoundingBox | null, string> {
  if (value === undefined) return ok(null);
  const message = "bbox must be four numbers: west, south, east, north, in degrees";
  if (!Array.isArray(value) || value.length !== 4) return fail(message);
  const [west, south, east, north] = value as unknown[];
  if (!isBetween(west, -180, 180) || !isBetween(east, -180, 180)) return fail(message);
  if (!isBetween(south, -90, 90) || !isBetween(north, -90, 90)) return fail(message);
  if (south > north) return fail("bbox must have south below north");
  return ok(new BoundingBox(west, south, east, north));
}

type Contains = (latitude: number, longitude: number) => boolean;

const EARTH_METERS_MAX = 20_100_000;

function parseCircle(value: unknown): Result<Contains | null, string> {
  if (value === undefined) return ok(null);
  const message = `circle must have latitude, longitude and radius_meters, at most ${EARTH_METERS_MAX}`;
  if (!isObject(value) || Object.keys(value).length !== 3) return fail(message);
  const { latitude, longitude, radius_meters: radius } = value;
  if (!isBetween(latitude, -90, 90) || !isBetween(longitude, -180, 180)) return fail(message);
  if (!isBetween(radius, 0, EARTH_METERS_MAX)) return fail(message);
  return ok((lat, lon) => haversineMeters(latitude, longitude, lat, lon) <= radius);
}

function isBetween(value: unknown, least: number, most: number): value is number {
  return typeof value === "number" && value >= least && value <= most;
}

/** Whether it is an instant that a report may have; 8.64e15 is the last that a date may have. */
function isInstant(value: unknown): value is number {
  return Number.isInteger(value) && isBetween(value, 0, 8_640_000_000_000_000);
}
