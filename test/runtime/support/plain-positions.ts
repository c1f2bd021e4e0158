import { METERS_PER_MILE } from "../../http/endpoints.ts";
import { atLeast, type Expected, near, nearDegrees } from "./difference.ts";
import type { PlainFleet, PlainRecord } from "./plain-fleet.ts";
import { bearingDegrees, metersBetween } from "./plain-geometry.ts";
import {
  counts,
  isTooVague,
  MILES_TOLERANCE,
  NOT_FOUND,
  type PlainAnswer,
  type Query,
  shown,
} from "./plain-parts.ts";

/** What the endpoints about latest positions should answer, by plain loops over a fleet's devices. */

const DEGREES_TOLERANCE = 0.011; // The last of a bearing's two, and rounding.
const MS_PER_HOUR = 3_600_000;

export function deviceCurrent(fleet: PlainFleet, deviceId: string, { timezone }: Query): PlainAnswer {
  const newest = fleet.recordsOf(deviceId).at(-1);
  if (newest === undefined)
    return { status: 404, body: { success: false, device_id: deviceId, message: NOT_FOUND } };
  const location = shown(fleet, newest, "deviceCurrent", timezone);
  return { status: 200, body: { success: true, device_id: deviceId, location } };
}

export function userCurrent(fleet: PlainFleet, userId: string, query: Query, nowMs: number): PlainAnswer {
  const { max_age, accuracy, limit = 100, timezone } = query;
  const found: PlainRecord[] = [];
  for (const newest of newestRecords(fleet)) {
    if (newest.user_id !== userId) continue;
    if (max_age !== undefined && newest.timestamp < nowMs - max_age * 1000) continue;
    if (isTooVague(newest, accuracy)) continue;
    found.push(newest);
  }
  const locations = found.slice(0, limit).map((record) => shown(fleet, record, "current", timezone));
  return {
    status: 200,
    body: { success: true, user_id: userId, device_count: locations.length, locations },
  };
}

export function userDevices(fleet: PlainFleet, userId: string, query: Query, nowMs: number): PlainAnswer {
  const { active_only = false, max_age = 86_400 } = query;
  const devices: Expected[] = [];
  for (const newest of newestRecords(fleet)) {
    if (newest.user_id !== userId) continue;
    if (active_only && newest.timestamp <= nowMs - max_age * 1000) continue;
    const { device_id, timestamp, latitude, longitude } = newest;
    const { battery_level, battery_status, network_status, model, os_version } = newest;
    devices.push({
      device_id,
      last_seen: timestamp,
      last_location: { latitude, longitude, timestamp },
      battery_level,
      battery_status,
      network_status,
      model,
      os_version,
    });
  }
  return { status: 200, body: { user_id: userId, devices, device_count: devices.length } };
}

export function appCurrent(fleet: PlainFleet, query: Query): PlainAnswer {
  const { timestamp_after, timestamp_before, offset = 0, limit = 100, timezone } = query;
  const found = newestRecords(fleet).filter(
    ({ timestamp }) =>
      (timestamp_after === undefined || timestamp > timestamp_after) &&
      (timestamp_before === undefined || timestamp < timestamp_before),
  );
  const locations = found
    .slice(offset, offset + limit)
    .map((record) => shown(fleet, record, "current", timezone));
  const pagination = { ...counts(locations, offset, found.length), total_count: found.length, offset, limit };
  return { status: 200, body: { success: true, app_id: fleet.appId, locations, pagination } };
}

export function nearby(fleet: PlainFleet, query: Query, nowMs: number): PlainAnswer {
  const { latitude = 0, longitude = 0, radius_miles = 5, max_age_hours = 24 } = query;
  const { min_accuracy, offset = 0, limit = 100, timezone } = query;
  const found: { record: PlainRecord; meters: number }[] = [];
  for (const record of newestRecords(fleet)) {
    if (record.timestamp < nowMs - max_age_hours * MS_PER_HOUR) continue;
    if (isTooVague(record, min_accuracy)) continue;
    const meters = metersBetween(latitude, longitude, record.latitude, record.longitude);
    if (meters <= radius_miles * METERS_PER_MILE) found.push({ record, meters });
  }
  found.sort((a, b) => a.meters - b.meters); // Stable: devices at the same distance stay in order of their ids.
  const results = found.slice(offset, offset + limit).map(({ record, meters }) => ({
    device_id: record.device_id,
    distance_miles: near(meters / METERS_PER_MILE, MILES_TOLERANCE),
    bearing_degrees: nearDegrees(
      bearingDegrees(latitude, longitude, record.latitude, record.longitude),
      DEGREES_TOLERANCE,
    ),
    location: shown(fleet, record, "current", timezone),
  }));
  const body = {
    success: true,
    app_id: fleet.appId,
    search_criteria: { center: { latitude, longitude }, radius_miles, max_age_hours },
    results,
    pagination: { ...counts(results, offset, found.length), offset, limit, total_matches: found.length },
    total_candidates: atLeast(found.length),
    query_time_ms: atLeast(0),
  };
  return { status: 200, body };
}

function newestRecords(fleet: PlainFleet): PlainRecord[] {
  return fleet.deviceIds().map((deviceId) => fleet.recordsOf(deviceId).at(-1)!);
}
