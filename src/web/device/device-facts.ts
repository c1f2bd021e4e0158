import { html, nothing, type TemplateResult } from "lit-html";
import type { CurrentRecord } from "../api/answers.ts";
import { compassPoint, distanceText, heightText, speedText, type Units } from "../geo/units.ts";
import { type IconName, icon } from "../shell/icons.ts";
import { agoText, instantText } from "../time/format.ts";
import { DAY, dayAt } from "../time/local-day.ts";
import type { ChosenDevice } from "./chosen-device.ts";
import { type Coordinates, coordinatesText, copyCoordinates } from "./coordinates.ts";
import { nearText } from "./day-lists.ts";
import type { TodayDistance } from "./today-distance.ts";

interface DeviceFactsParts {
  readonly chosen: ChosenDevice;
  readonly today: TodayDistance;
  readonly coordinates: Coordinates;
  readonly units: Units;
}

/** The newest values of the chosen device: where it is, the most important ones as tiles, and the rest as one line. */
export function deviceFacts(current: CurrentRecord, parts: DeviceFactsParts): TemplateResult {
  const { chosen, coordinates, units } = parts;
  const { timestamp, latitude, longitude, speed, bearing, altitude, battery_level: battery, place } = current;
  const nowMs = Date.now();
  const meters = todayMeters(current, parts);
  const heading = bearing === undefined ? null : compassPoint(bearing);
  return html`${place ? html`<p class="device-place">${icon("pin")}<span>${nearText(place, units)}</span></p>` : nothing}
    <dl class="fact-tiles">
      ${speed === undefined ? nothing : tile("speed", "Speed", speedText(speed, units), heading)}
      ${battery === undefined ? nothing : tile("battery", "Battery", `${Math.round(battery)} %`)}
      ${tile("clock", "Last report", agoText(timestamp, nowMs))}
      ${meters === null ? nothing : tile("route", "Distance today", distanceText(meters, units))}
    </dl>
    <p class="fact-line soft">${instantText(timestamp, chosen.zone)}${altitude === undefined ? nothing : `, altitude ${heightText(altitude, units)}`}</p>
    <div class="fact-copy">${copyCoordinates(coordinatesText(latitude, longitude), coordinates)}</div>`;
}

function tile(name: IconName, label: string, value: string, note: string | null = null): TemplateResult {
  return html`<div>
    <dt>${icon(name)}${label}</dt>
    <dd>${value}${note === null ? nothing : html` <small>${note}</small>`}</dd>
  </div>`;
}

/** How far the device has moved today; null if that is not known, or not for the user to know. */
function todayMeters({ timestamp }: CurrentRecord, { chosen, today }: DeviceFactsParts): number | null {
  const { id, history, zone, isView } = chosen;
  if (id === null || isView) return null;
  if (dayAt(timestamp, zone) < chosen.today) return 0;
  const isShown = history !== null && history.day === chosen.today && history.span === DAY;
  if (isShown && history.zone === zone) return history.stops?.distance_meters ?? null;
  // While the shown day loads it may be today's.
  if (chosen.isLoading) return null;
  return today.look({ deviceId: id, today: chosen.today, zone, newestMs: timestamp });
}
