import { haversineMeters, initialBearingDegrees } from "../../src/geo/distance.ts";
import { compareUtf8 } from "../../src/lib/text/utf8.ts";
import type { Report } from "./batches.ts";
import {
  localDate,
  localDay,
  type PlainRecord,
  type ShownIn,
  shownDevice,
  shownRecord,
} from "./plain-presenter.ts";
import { createPlainStore } from "./plain-store.ts";

/** The service of one app, written the obvious way: all records are filtered, sorted and cut at each question. */
export interface PlainService {
  /** Takes good reports; returns how many of them changed anything. */
  report(reports: readonly Report[]): number;
  /** The whole answer. Members that only a measurement can tell are null, nearby's two numbers are not rounded. */
  answer(question: Question, nowMs: number): PlainAnswer;
}

export interface PlainAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export const ENDPOINTS = [
  "deviceCurrent",
  "deviceHistory",
  "userCurrent",
  "userHistory",
  "userDevices",
  "appCurrent",
  "appHistory",
  "nearby",
] as const;

/** The query's parameters by their own names; each endpoint knows some and is sent all. */
export interface Question {
  readonly endpoint: (typeof ENDPOINTS)[number];
  readonly device: string;
  readonly user: string;
  readonly query: {
    readonly latitude: number;
    readonly longitude: number;
    readonly radius_miles?: number | undefined;
    readonly max_age_hours?: number | undefined;
    readonly min_accuracy?: number | undefined;
    readonly accuracy?: number | undefined;
    readonly max_age?: number | undefined;
    readonly active_only?: boolean | undefined;
    readonly timestamp_after?: number | undefined;
    readonly timestamp_before?: number | undefined;
    readonly start_date?: string | undefined;
    readonly end_date?: string | undefined;
    readonly distance_travelled?: boolean | undefined;
    readonly order?: "asc" | "desc" | undefined;
    readonly timezone?: string | undefined;
    readonly limit?: number | undefined;
    readonly offset?: number | undefined;
  };
}

export const WRONG_ZONE = "Mars/Phobos";

const DAY_MS = 86_400_000;
const METERS_PER_MILE = 1609.344;
const LIMIT = 100;
const NOT_FOUND = "Device not found or does not belong to your app";

/** A question with all it is asked of: what one app holds at an instant. */
interface Asked extends Question {
  readonly appId: string;
  readonly nowMs: number;
  readonly zone: string | null;
  /** By time and device, and the newest of each device by device. */
  readonly records: readonly PlainRecord[];
  readonly newest: readonly PlainRecord[];
}

export function createPlainService(appId: string): PlainService {
  const store = createPlainStore();
  return {
    report: (reports) => reports.filter((report) => store.apply(report)).length,
    answer(question, nowMs) {
      const { endpoint, device, query } = question;
      const zone = endpoint === "userDevices" ? null : (query.timezone ?? null);
      if (zone === WRONG_ZONE) return wrongZone(endpoint, device);
      const oldestMs = Math.floor(nowMs / DAY_MS) * DAY_MS - 365 * DAY_MS; // Retention is by whole UTC days.
      const isRetained = ({ timestamp }: { timestamp: number }) => timestamp >= oldestMs;
      const records = store.records().filter(isRetained) as unknown as readonly PlainRecord[];
      const newest = store.newest().filter(isRetained) as unknown as readonly PlainRecord[];
      return ANSWERS[endpoint]({ ...question, appId, nowMs, zone, records, newest });
    },
  };
}

const ANSWERS: Readonly<Record<Question["endpoint"], (asked: Asked) => PlainAnswer>> = {
  deviceCurrent,
  deviceHistory,
  userCurrent,
  userHistory,
  userDevices,
  appCurrent,
  appHistory,
  nearby,
};

function deviceCurrent(asked: Asked): PlainAnswer {
  const { device } = asked;
  const record = asked.newest.find(({ device_id }) => device_id === device);
  if (record === undefined) {
    return { status: 404, body: { success: false, device_id: device, message: NOT_FOUND } };
  }
  return ok({ success: true, device_id: device, location: show(asked, "deviceCurrent")(record) });
}

function deviceHistory(asked: Asked): PlainAnswer {
  const { device, query } = asked;
  if (!asked.newest.some(({ device_id }) => device_id === device)) {
    const { start, end } = datesOf(asked);
    return { status: 404, body: emptyHistory(device, start, end, NOT_FOUND) };
  }
  const { all, locations, pagination, query_info } = history(
    asked,
    "deviceHistory",
    (record) => record.device_id === device && isAccurate(record, query.min_accuracy),
  );
  const { meters, miles } = travelled(all);
  const distance = query.distance_travelled === true ? { distance_travelled: { meters, miles } } : {};
  return ok({ success: true, device_id: device, locations, ...distance, pagination, query_info });
}

function userCurrent(asked: Asked): PlainAnswer {
  const { user, query, nowMs } = asked;
  const oldestMs = nowMs - (query.max_age ?? Number.POSITIVE_INFINITY) * 1000;
  const locations = asked.newest
    .filter(({ user_id, timestamp }) => user_id === user && timestamp >= oldestMs)
    .filter((record) => isAccurate(record, query.accuracy))
    .slice(0, query.limit ?? LIMIT)
    .map(show(asked, "current"));
  return ok({ success: true, user_id: user, device_count: locations.length, locations });
}

function userHistory(asked: Asked): PlainAnswer {
  const { user, query } = asked;
  const { all, locations, pagination, query_info } = history(
    asked,
    "userHistory",
    ({ user_id }) => user_id === user,
  );
  const { offset = 0, limit = LIMIT } = query;
  const total_estimated = Math.max(all.length, offset + locations.length);
  return ok({
    user_id: user,
    locations,
    ...(query.distance_travelled === true ? { distance_travelled: travelled(all) } : {}),
    pagination: { ...pagination, total_estimated, offset, limit },
    query_info: { ...query_info, source: "hot" },
  });
}

function userDevices({ user, query, newest, nowMs }: Asked): PlainAnswer {
  const ageSeconds = query.active_only === true ? (query.max_age ?? 86_400) : Number.POSITIVE_INFINITY;
  const devices = newest
    .filter(({ user_id, timestamp }) => user_id === user && timestamp > nowMs - ageSeconds * 1000)
    .map(shownDevice);
  return ok({ user_id: user, devices, device_count: devices.length });
}

function appCurrent(asked: Asked): PlainAnswer {
  const { timestamp_after = -Infinity, timestamp_before = Infinity, offset = 0, limit = LIMIT } = asked.query;
  const all = asked.newest.filter(
    ({ timestamp }) => timestamp > timestamp_after && timestamp < timestamp_before,
  );
  const locations = all.slice(offset, offset + limit).map(show(asked, "current"));
  const count = locations.length;
  const has_more = offset + count < all.length;
  const pagination = { count, has_more, total_count: all.length, offset, limit };
  return ok({ success: true, app_id: asked.appId, locations, pagination });
}

function appHistory(asked: Asked): PlainAnswer {
  const { all, locations, pagination, query_info } = history(asked, "appHistory", (record) =>
    isAccurate(record, asked.query.min_accuracy),
  );
  return ok({
    success: true,
    app_id: asked.appId,
    locations,
    pagination: { ...pagination, total_devices: new Set(all.map(({ device_id }) => device_id)).size },
    query_info: { ...query_info, devices_queried: asked.newest.length },
  });
}

function nearby(asked: Asked): PlainAnswer {
  const {
    latitude,
    longitude,
    radius_miles = 5,
    max_age_hours = 24,
    offset = 0,
    limit = LIMIT,
  } = asked.query;
  const oldestMs = asked.nowMs - max_age_hours * 3_600_000;
  const all = asked.newest
    .filter((record) => record.timestamp >= oldestMs && isAccurate(record, asked.query.min_accuracy))
    .map((record) => ({
      record,
      meters: haversineMeters(latitude, longitude, record.latitude, record.longitude),
    }))
    .filter(({ meters }) => meters <= radius_miles * METERS_PER_MILE)
    .sort((a, b) => a.meters - b.meters || compareUtf8(a.record.device_id, b.record.device_id));
  const results = all.slice(offset, offset + limit).map(({ record, meters }) => ({
    device_id: record.device_id,
    distance_miles: meters / METERS_PER_MILE,
    bearing_degrees: initialBearingDegrees(latitude, longitude, record.latitude, record.longitude),
    location: show(asked, "current")(record),
  }));
  const count = results.length;
  const has_more = offset + count < all.length;
  return ok({
    success: true,
    app_id: asked.appId,
    search_criteria: { center: { latitude, longitude }, radius_miles, max_age_hours },
    results,
    pagination: { count, has_more, offset, limit, total_matches: all.length },
    total_candidates: null,
    query_time_ms: null,
  });
}

/** All records a history is asked for, its page, and what its envelope tells of them. */
function history(asked: Asked, kind: ShownIn, isAsked: (record: PlainRecord) => boolean) {
  const { order, offset = 0, limit = LIMIT } = asked.query;
  const { start, end } = datesOf(asked);
  const { startMs } = localDay(start, asked.zone);
  const { endMs } = localDay(end, asked.zone);
  const all = asked.records.filter(
    (record) => record.timestamp >= startMs && record.timestamp < endMs && isAsked(record),
  );
  const page = (order === "desc" ? all.toReversed() : all).slice(offset, offset + limit);
  const time_range = { start: new Date(startMs).toISOString(), end: new Date(endMs - 1).toISOString() };
  return {
    all,
    locations: page.map(show(asked, kind)),
    pagination: { count: page.length, has_more: offset + page.length < all.length },
    query_info: { time_range, data_scanned_mb: null, query_time_ms: null },
  };
}

function datesOf({ query, nowMs, zone }: Asked) {
  const today = localDate(nowMs, zone);
  return { start: query.start_date ?? today, end: query.end_date ?? today };
}

function show({ appId, zone }: Asked, kind: ShownIn) {
  return (record: PlainRecord) => shownRecord(record, kind, appId, zone);
}

/** A record that does not tell its accuracy stays. */
function isAccurate({ horizontal_accuracy }: PlainRecord, metersMax: number | undefined): boolean {
  return metersMax === undefined || horizontal_accuracy === undefined || !(horizontal_accuracy > metersMax);
}

function ok(body: PlainAnswer["body"]): PlainAnswer {
  return { status: 200, body };
}

function wrongZone(endpoint: Question["endpoint"], device: string): PlainAnswer {
  const message = `Invalid timezone: ${WRONG_ZONE}`;
  const body =
    endpoint === "deviceHistory" ? emptyHistory(device, "", "", message) : { success: false, message };
  return { status: 400, body };
}

function emptyHistory(device: string, start: string, end: string, message: string) {
  return {
    success: false,
    device_id: device,
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: { time_range: { start, end }, data_scanned_mb: null, query_time_ms: null },
    message,
  };
}

/** The path of each device through records in order of time, and all of them together. */
function travelled(records: readonly PlainRecord[]) {
  const byDevice = new Map<string, number>();
  const last = new Map<string, PlainRecord>();
  for (const record of records) {
    const { device_id, latitude, longitude } = record;
    const before = last.get(device_id) ?? record;
    const meters = haversineMeters(before.latitude, before.longitude, latitude, longitude);
    byDevice.set(device_id, (byDevice.get(device_id) ?? 0) + meters);
    last.set(device_id, record);
  }
  const sorted = [...byDevice].sort(([a], [b]) => compareUtf8(a, b));
  const meters = sorted.reduce((sum, [, path]) => sum + path, 0);
  return { meters, miles: meters / METERS_PER_MILE, by_device: Object.fromEntries(sorted) };
}
