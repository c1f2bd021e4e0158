import type { FullReport } from "./fleet.ts";

/* Reports of a fleet in the formats of phone apps (docs/clients.md), with their real members. */

/** A position of OwnTracks on Android, one per request. */
export function owntracksMessage(report: FullReport): unknown {
  const seconds = Math.round(Number(report.timestamp) / 1000);
  const device = String(report.device_id);
  return {
    _type: "location",
    _id: device.slice(-8),
    BSSID: "c0:ff:ee:c0:ff:ee",
    SSID: "home",
    acc: Math.round(Number(report.horizontal_accuracy)),
    alt: Math.round(Number(report.altitude)),
    batt: report.battery_level,
    bs: 1,
    cog: Math.round(Number(report.bearing)),
    conn: "m",
    created_at: seconds + 1,
    lat: report.latitude,
    lon: report.longitude,
    m: 2,
    t: "u",
    tid: device.slice(-2),
    topic: `owntracks/anna/${device}`,
    tst: seconds,
    vac: Math.round(Number(report.vertical_accuracy)),
    vel: Math.trunc(Number(report.speed) * 3.6),
  };
}

/** A batch of Overland on iOS. */
export function overlandMessage(reports: readonly FullReport[]): unknown {
  return { locations: reports.map(overlandFeature) };
}

function overlandFeature(report: FullReport) {
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [report.longitude, report.latitude] },
    properties: {
      timestamp: `${new Date(Number(report.timestamp)).toISOString().slice(0, 19)}Z`,
      altitude: Math.round(Number(report.altitude)),
      speed: Math.round(Number(report.speed)),
      course: Math.round(Number(report.bearing)),
      horizontal_accuracy: Math.round(Number(report.horizontal_accuracy)),
      vertical_accuracy: Math.round(Number(report.vertical_accuracy)),
      speed_accuracy: 0.35,
      course_accuracy: 2.81,
      motion: [report.type === "MOVING" ? "driving" : "stationary"],
      device_id: report.device_id,
      wifi: "home",
      battery_state: "unplugged",
      battery_level: Number(report.battery_level) / 100,
      unique_id: "8B1D2C3E-0000-4000-8000-000000000001",
    },
  };
}
