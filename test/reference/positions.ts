import { haversineMeters, initialBearingDegrees } from "../../src/model/geo/distance.ts";
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
import { shownDevice } from "./shown.ts";

/** What the endpoints about newest positions should answer. */

const MS_PER_HOUR = 3_600_000;

export function deviceCurrent(asked: Asked): ReferenceAnswer {
  const { device } = asked;
  const record = asked.recordsOf(device).at(-1);
  if (record === undefined) {
    return { status: 404, body: { success: false, device_id: device, message: NOT_FOUND } };
  }
  return ok({ success: true, device_id: device, location: show(asked, "deviceCurrent")(record) });
}

export function userCurrent(asked: Asked): ReferenceAnswer {
  const { user, parameters, nowMs } = asked;
  const oldestMs = nowMs - (parameters.max_age ?? Number.POSITIVE_INFINITY) * 1000;
  const locations = asked
    .newest()
    .filter(({ user_id, timestamp }) => user_id === user && timestamp >= oldestMs)
    .filter((record) => isAccurate(record, parameters.accuracy))
    .slice(0, parameters.limit ?? LIMIT)
    .map(show(asked, "current"));
  return ok({ success: true, user_id: user, device_count: locations.length, locations });
}

export function userDevices({ user, parameters, newest, nowMs }: Asked): ReferenceAnswer {
  const { active_only = false, max_age = 86_400 } = parameters;
  const ageSeconds = active_only ? max_age : Number.POSITIVE_INFINITY;
  const devices = newest()
    .filter(({ user_id, timestamp }) => user_id === user && timestamp > nowMs - ageSeconds * 1000)
    .map(shownDevice);
  return ok({ user_id: user, devices, device_count: devices.length });
}

export function appCurrent(asked: Asked): ReferenceAnswer {
  const {
    timestamp_after = -Infinity,
    timestamp_before = Infinity,
    offset = 0,
    limit = LIMIT,
  } = asked.parameters;
  const all = asked
    .newest()
    .filter(({ timestamp }) => timestamp > timestamp_after && timestamp < timestamp_before);
  const locations = all.slice(offset, offset + limit).map(show(asked, "current"));
  const count = locations.length;
  const has_more = offset + count < all.length;
  const pagination = { count, has_more, total_count: all.length, offset, limit };
  return ok({ success: true, app_id: asked.appId, locations, pagination });
}

export function nearby(asked: Asked): ReferenceAnswer {
  const { latitude = 0, longitude = 0, radius_miles = 5, max_age_hours = 24 } = asked.parameters;
  const { offset = 0, limit = LIMIT, min_accuracy } = asked.parameters;
  const oldestMs = asked.nowMs - max_age_hours * MS_PER_HOUR;
  const all = asked
    .newest()
    .filter((record) => record.timestamp >= oldestMs && isAccurate(record, min_accuracy))
    .map((record) => ({
      record,
      meters: haversineMeters(latitude, longitude, record.latitude, record.longitude),
    }))
    .filter(({ meters }) => meters <= radius_miles * METERS_PER_MILE)
    .sort((a, b) => a.meters - b.meters); // Stable: devices at the same distance stay in order of their ids.
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
