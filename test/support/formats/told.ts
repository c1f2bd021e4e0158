import type { Findings } from "./read-file.ts";

/** Points as lines that people can compare: time, position, device, user where there is one, and details. */
export function told({ points }: Findings): string[] {
  return points.map(({ timestampMs, latitude, longitude, device, user, details }) => {
    const time = timestampMs === null ? "never" : new Date(timestampMs).toISOString();
    const place = latitude === null || longitude === null ? "nowhere" : `${latitude} ${longitude}`;
    const told = Object.entries(details).map(([name, value]) => `${name}=${value}`);
    return [time, place, device ?? "-", ...(user === null ? [] : [`of ${user}`]), ...told].join(" ");
  });
}
