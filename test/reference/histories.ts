import { haversineMeters } from "../../src/model/geo/distance.ts";
import {
  type Asked,
  isAccurate,
  LIMIT,
  METERS_PER_MILE,
  NOT_FOUND,
  ok,
  type ReferenceAnswer,
  show,
} from "./asked.ts";
import { dayAfter, localDate, startOfDayMs } from "./local-time.ts";
import type { ReferenceRecord } from "./records.ts";
import type { ShownIn } from "./shown.ts";

/** What the three histories should answer. */

export function deviceHistory(asked: Asked): ReferenceAnswer {
  const { device, parameters } = asked;
  const own = asked.recordsOf(device);
  if (own.length === 0) {
    const { start, end } = datesOf(asked);
    return { status: 404, body: emptyHistory(device, start, end, NOT_FOUND) };
  }
  const accurate = own.filter((record) => isAccurate(record, parameters.min_accuracy));
  const { all, locations, pagination, query_info } = history(asked, "deviceHistory", accurate);
  const { meters, miles } = travelled(all);
  const distance = parameters.distance_travelled === true ? { distance_travelled: { meters, miles } } : {};
  return ok({ success: true, device_id: device, locations, ...distance, pagination, query_info });
}

export function userHistory(asked: Asked): ReferenceAnswer {
  const { user, parameters } = asked;
  const own = asked.records().filter(({ user_id }) => user_id === user);
  const { all, locations, pagination, query_info } = history(asked, "userHistory", own);
  const { offset = 0, limit = LIMIT } = parameters;
  const total_estimated = Math.max(all.length, offset + locations.length); // The contract, §3.
  return ok({
    user_id: user,
    locations,
    ...(parameters.distance_travelled === true ? { distance_travelled: travelled(all) } : {}),
    pagination: { ...pagination, total_estimated, offset, limit },
    query_info: { ...query_info, source: "hot" },
  });
}

export function appHistory(asked: Asked): ReferenceAnswer {
  const accurate = asked.records().filter((record) => isAccurate(record, asked.parameters.min_accuracy));
  const { all, locations, pagination, query_info } = history(asked, "appHistory", accurate);
  return ok({
    success: true,
    app_id: asked.appId,
    locations,
    pagination: { ...pagination, total_devices: new Set(all.map(({ device_id }) => device_id)).size },
    query_info: { ...query_info, devices_queried: asked.newest().length },
  });
}

/** A device history of nothing: nothing was looked for, so nothing was measured. */
export function emptyHistory(device: string, start: string, end: string, message: string) {
  return {
    success: false,
    device_id: device,
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: { time_range: { start, end }, data_scanned_mb: 0, query_time_ms: 0 },
    message,
  };
}

/** Those of the dates, their page, and what the envelope tells of them. */
function history(asked: Asked, kind: ShownIn, records: readonly ReferenceRecord[]) {
  const { order, offset = 0, limit = LIMIT } = asked.parameters;
  const { start, end } = datesOf(asked);
  const startMs = startOfDayMs(asked.zone ?? "UTC", start);
  const endMs = startOfDayMs(asked.zone ?? "UTC", dayAfter(end));
  const all = records.filter(({ timestamp }) => timestamp >= startMs && timestamp < endMs);
  const page = (order === "desc" ? all.toReversed() : all).slice(offset, offset + limit);
  const time_range = { start: new Date(startMs).toISOString(), end: new Date(endMs - 1).toISOString() };
  return {
    all,
    locations: page.map(show(asked, kind)),
    pagination: { count: page.length, has_more: offset + page.length < all.length },
    query_info: { time_range, data_scanned_mb: null, query_time_ms: null },
  };
}

function datesOf({ parameters, nowMs, zone }: Asked) {
  const today = localDate(zone ?? "UTC", nowMs);
  return { start: parameters.start_date ?? today, end: parameters.end_date ?? today };
}

/** The path of each device through records in order of time, and all of them together. */
function travelled(records: readonly ReferenceRecord[]) {
  const byDevice = new Map<string, number>();
  const last = new Map<string, ReferenceRecord>();
  for (const record of records) {
    const { device_id, latitude, longitude } = record;
    const before = last.get(device_id) ?? record;
    const meters = haversineMeters(before.latitude, before.longitude, latitude, longitude);
    byDevice.set(device_id, (byDevice.get(device_id) ?? 0) + meters);
    last.set(device_id, record);
  }
  const sorted = [...byDevice].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  const meters = sorted.reduce((sum, [, path]) => sum + path, 0);
  return { meters, miles: meters / METERS_PER_MILE, by_device: Object.fromEntries(sorted) };
}
