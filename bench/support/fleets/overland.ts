import type { FullReport } from "./fleet.ts";

/** A message of Overland: what one phone collected, with what the app sends beside each position. */
export function overlandMessage(reports: readonly FullReport[]): unknown {
  return { locations: reports.map(featureOf) };
}

function featureOf(report: FullReport): unknown {
  return {
    type: "Feature",
    geometry: { type: "Point", coordinates: [report.longitude, report.latitude] },
    properties: {
      timestamp: new Date(Number(report.timestamp)).toISOString(),
      altitude: Math.round(Number(report.altitude)),
      speed: Math.round(Number(report.speed)),
      course: Math.round(Number(report.bearing)),
      horizontal_accuracy: Math.round(Number(report.horizontal_accuracy)),
      vertical_accuracy: Math.round(Number(report.vertical_accuracy)),
      speed_accuracy: 1,
      course_accuracy: 5,
      motion: [report.type === "MOVING" ? "driving" : "stationary"],
      battery_state: report.battery_status === "Charging" ? "charging" : "unplugged",
      battery_level: Number(report.battery_level) / 100,
      activity: "other_navigation",
      pauses: false,
      desired_accuracy: 0,
      tracking_mode: 1,
      wifi: "",
      device_id: report.device_id,
    },
  };
}
