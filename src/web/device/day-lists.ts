import { html, nothing, type TemplateResult } from "lit-html";
import type { NearPlace, StopAnswer } from "../api/answers.ts";
import { compassPoint, distanceText, METERS_PER_MILE, type Units } from "../geo/units.ts";
import type { Track } from "../history/track.ts";
import { dayText, durationText, minuteText } from "../time/format.ts";
import { dayAt, hoursOf, type LocalDay, type TimeRange } from "../time/local-day.ts";

/* The stops and the hours of a device's day, as lists. */

/** The list ends after this many stops. */
const STOPS_MAX = 200;

interface StopListParts {
  readonly stops: readonly StopAnswer[];
  readonly zone: string;
  readonly units: Units;
  readonly onChoose: (stop: StopAnswer) => void;
}

/** The stops of several days. */
export function stopList(parts: StopListParts): TemplateResult | typeof nothing {
  const { stops, onChoose } = parts;
  if (stops.length === 0) return nothing;
  const listed = stops.slice(0, STOPS_MAX);
  return html`<h3>Stops</h3>
    <ol class="stops">
      ${listed.map(
        (stop, index) => html`<li>
          <button class="stop" @click=${() => onChoose(stop)}>
            <span class="stop-number" aria-hidden="true">${index + 1}</span>
            ${stopText(stop, parts)}
          </button>
        </li>`,
      )}
    </ol>
    ${
      listed.length < stops.length
        ? html`<p class="soft">The first ${STOPS_MAX} of ${stops.length} are listed. Choose fewer days for the others.</p>`
        : nothing
    }`;
}

function stopText({ start, end, place }: StopAnswer, { zone, units }: StopListParts): TemplateResult {
  return html`<span class="stop-time">${dayText(dayAt(start, zone))}, ${minuteText(start, zone)}</span>
    <span class="stop-duration">${durationText(end - start)}</span>
    <span class="stop-place soft">${place ? nearText(place, units) : "Far from any town"}</span>`;
}

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
