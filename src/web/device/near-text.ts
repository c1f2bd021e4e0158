import type { NearPlace } from "../api/answers.ts";
import { compassPoint } from "../geo/compass.ts";
import { distanceText, METERS_PER_MILE, type Units } from "../geo/units.ts";

/** `2.1 km NE of Chelsea`. */
export function nearText({ name, distance_miles, bearing_degrees }: NearPlace, units: Units): string {
  const distance = distanceText(distance_miles * METERS_PER_MILE, units);
  return `${distance} ${compassPoint(bearing_degrees)} of ${name}`;
}
