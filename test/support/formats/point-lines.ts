import type { Findings } from "./read-file.ts";

/** Points as readable lines: time, position, device, user if there is one, and details. */
export function pointLines({ points }: Findings): string[] {
  return points.map(({ timestampMs, latitude, longitude, device, user, details }) => {
    const time = timeText(timestampMs);
    const place = latitude === null || longitude === null ? "nowhere" : `${latitude} ${longitude}`;
    const told = Object.entries(details).map(([name, value]) => `${name}=${value}`);
    return [time, place, device ?? "-", ...(user === null ? [] : [`of ${user}`]), ...told].join(" ");
  });
}

function timeText(timestampMs: number | null): string {
  if (timestampMs === null) return "never";
  return Number.isNaN(timestampMs) ? "at a time that can't be read" : new Date(timestampMs).toISOString();
}
