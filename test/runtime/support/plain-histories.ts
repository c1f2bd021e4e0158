import { METERS_PER_MILE } from "../../http/endpoints.ts";
import { atLeast, type Expected, near, oneOf } from "./difference.ts";
import type { PlainFleet, PlainRecord } from "./plain-fleet.ts";
import { metersBetween } from "./plain-geometry.ts";
import {
  counts,
  isTooVague,
  MILES_TOLERANCE,
  NOT_FOUND,
  type PlainAnswer,
  type Query,
  shown,
} from "./plain-parts.ts";
import { dayAfter, localDate, startOfDayMs } from "./plain-time.ts";

/** What the three histories should answer, by plain loops over a fleet's records. */

export function deviceHistory(fleet: PlainFleet, deviceId: string, query: Query, nowMs: number): PlainAnswer {
  const records = fleet.recordsOf(deviceId);
  if (records.length === 0) return noHistory(deviceId, query, nowMs);
  const { matching, page, offset, query_info } = history(records, query, nowMs);
  const locations = page.map((record) => shown(fleet, record, "deviceHistory", query.timezone));
  const body = {
    success: true,
    device_id: deviceId,
    locations,
    distance_travelled: query.distance_travelled === true ? lengthOf(pathMeters(matching)) : undefined,
    pagination: counts(locations, offset, matching.length),
    query_info,
  };
  return { status: 200, body };
}

function noHistory(deviceId: string, query: Query, nowMs: number): PlainAnswer {
  const { start, end } = datesOf(query, nowMs);
  const body = {
    success: false,
    device_id: deviceId,
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: { time_range: { start, end }, data_scanned_mb: 0, query_time_ms: 0 },
    message: NOT_FOUND,
  };
  return { status: 404, body };
}

export function userHistory(fleet: PlainFleet, userId: string, query: Query, nowMs: number): PlainAnswer {
  const records = fleet.records().filter((record) => record.user_id === userId);
  const { matching, page, offset, limit, query_info } = history(records, query, nowMs);
  const locations = page.map((record) => shown(fleet, record, "userHistory", query.timezone));
  const body = {
    user_id: userId,
    locations,
    distance_travelled: query.distance_travelled === true ? lengthsByDevice(matching) : undefined,
    pagination: {
      ...counts(locations, offset, matching.length),
      total_estimated: Math.max(matching.length, offset + locations.length), // The contract, §3.,
      offset,
      limit,
    },
    query_info: { ...query_info, source: oneOf("hot", "archive", "hot+archive") },
  };
  return { status: 200, body };
}

export function appHistory(fleet: PlainFleet, query: Query, nowMs: number): PlainAnswer {
  const { matching, page, offset, query_info } = history(fleet.records(), query, nowMs);
  const locations = page.map((record) => shown(fleet, record, "appHistory", query.timezone));
  const total_devices = new Set(matching.map((record) => record.device_id)).size;
  const body = {
    success: true,
    app_id: fleet.appId,
    locations,
    pagination: { ...counts(locations, offset, matching.length), total_devices },
    query_info: { ...query_info, devices_queried: fleet.deviceIds().length },
  };
  return { status: 200, body };
}

function datesOf({ start_date, end_date, timezone = "UTC" }: Query, nowMs: number) {
  const today = localDate(timezone, nowMs);
  return { start: start_date ?? today, end: end_date ?? today };
}

/** What the three histories share: which records match, oldest first, and which of them are the page. */
function history(records: readonly PlainRecord[], query: Query, nowMs: number) {
  const { offset = 0, limit = 100, timezone = "UTC", min_accuracy } = query;
  const { start, end } = datesOf(query, nowMs);
  const startMs = startOfDayMs(timezone, start);
  const endMs = startOfDayMs(timezone, dayAfter(end));
  const matching: PlainRecord[] = [];
  for (const record of records) {
    if (record.timestamp < startMs || record.timestamp >= endMs) continue;
    if (!isTooVague(record, min_accuracy)) matching.push(record);
  }
  const ordered = query.order === "desc" ? matching.toReversed() : matching;
  const query_info = {
    time_range: { start: new Date(startMs).toISOString(), end: new Date(endMs - 1).toISOString() },
    data_scanned_mb: atLeast(0),
    query_time_ms: atLeast(0),
  };
  return { matching, page: ordered.slice(offset, offset + limit), offset, limit, query_info };
}

function pathMeters(records: readonly PlainRecord[]): number {
  let meters = 0;
  let last: PlainRecord | null = null;
  for (const record of records) {
    if (last !== null)
      meters += metersBetween(last.latitude, last.longitude, record.latitude, record.longitude);
    last = record;
  }
  return meters;
}

function lengthsByDevice(records: readonly PlainRecord[]) {
  const by_device: Record<string, Expected> = {};
  let total = 0;
  for (const deviceId of new Set(records.map((record) => record.device_id))) {
    const meters = pathMeters(records.filter((record) => record.device_id === deviceId));
    by_device[deviceId] = near(meters, MILES_TOLERANCE * METERS_PER_MILE);
    total += meters;
  }
  return { ...lengthOf(total), by_device };
}

function lengthOf(meters: number) {
  return {
    meters: near(meters, MILES_TOLERANCE * METERS_PER_MILE),
    miles: near(meters / METERS_PER_MILE, MILES_TOLERANCE),
  };
}
