import { html, type TemplateResult } from "lit-html";
import type { NearPlace } from "../api/answers.ts";
import { compassPoint, distanceText, METERS_PER_MILE, type Units } from "../geo/units.ts";
import type { Track } from "../history/track.ts";
import { minuteText } from "../time/format.ts";
import { hoursOf, type LocalDay, type TimeRange } from "../time/local-day.ts";

/* The hours of a device's day as a table, and the place that it is near. */

/** Nearer than this, a device is in a place. */
const IN_PLACE_MILES_MAX = 1;

/** `In Chelsea`, `2.1 km NE of Chelsea`. */
export function nearText({ name, distance_miles, bearing_degrees }: NearPlace, units: Units): string {
  if (distance_miles < IN_PLACE_MILES_MAX) return `In ${name}`;
  const distance = distanceText(distance_miles * METERS_PER_MILE, units);
  return `${distance} ${compassPoint(bearing_degrees)} of ${name}`;
}

/** An hour of local time, and the track in it. */
export interface DayHour extends TimeRange {
  /** Positions of the track. */
  readonly positions: number;
  /** The length of the lines that end at them. */
  readonly meters: number;
}

interface HourTableParts {
  readonly hours: readonly DayHour[];
  readonly zone: string;
  readonly units: Units;
  readonly onChoose: (ms: number) => void;
}

/** The hours of the day as a table, for people who do not see the map. */
export function hourTable({ hours, zone, units, onChoose }: HourTableParts): TemplateResult {
  return html`<table class="hours">
    <thead>
      <tr><th scope="col">From</th><th scope="col">Positions</th><th scope="col">Distance</th></tr>
    </thead>
    <tbody>
      ${hours.map(
        ({ startMs, positions, meters }) => html`<tr>
          <th scope="row">${
            positions === 0
              ? minuteText(startMs, zone)
              : html`<button class="plain" @click=${() => onChoose(startMs)}>${minuteText(startMs, zone)}</button>`
          }</th>
          <td>${positions === 0 ? "–" : positions}</td>
          <td>${positions === 0 ? "–" : distanceText(meters, units)}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}

/** The hours of a day: 23 or 25 if clocks change. */
export function dayHours(track: Track, day: LocalDay, zone: string): readonly DayHour[] {
  let index = 0;
  return hoursOf(day, zone).map((hour) => {
    const first = index;
    let meters = 0;
    for (; index < track.count && track.timestampMs[index]! < hour.endMs; index++)
      if (track.isJoined(index)) meters += track.metersTo(index);
    return { ...hour, positions: index - first, meters };
  });
}
