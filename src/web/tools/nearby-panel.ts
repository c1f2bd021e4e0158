import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { repeat } from "lit-html/directives/repeat.js";
import { deviceBadge } from "../devices/device-badge.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { compassPoint, counted, distanceText } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import { agoText, minuteText } from "../time/format.ts";
import type { Nearby, NearbyDevice } from "./nearby.ts";
import { nearestStep, parseRadius, radiusMax, radiusSteps, UNIT_NAMES } from "./radius.ts";

interface NearbyPanelParts {
  readonly nearby: Nearby;
  readonly table: Pick<DeviceTable, "rowOf" | "labelOf" | "lookOf">;
  readonly chosen: { readonly id: string | null; choose(id: string): void };
  readonly zone: string;
}

const AGES: readonly (readonly [hours: number, label: string])[] = [
  [1, "the last hour"],
  [24, "the last 24 hours"],
  [7 * 24, "the last 7 days"],
  [366 * 24, "the last year"],
];

/** The panel of nearby devices: the circle's settings, and the devices in it. */
export function nearbyPanel(parts: NearbyPanelParts): TemplateResult | typeof nothing {
  const { nearby } = parts;
  if (!nearby.isOpen) return nothing;
  return html`<section class="card nearby" aria-labelledby="nearby-title">
    <div class="card-head">
      <h2 id="nearby-title">Nearby</h2>
      <button class="quiet" aria-label="Close" @click=${() => nearby.close()}>✕</button>
    </div>
    ${
      nearby.state === "aiming"
        ? html`<p role="status">Click on the map.</p>
          <button @click=${() => nearby.aroundMiddle()}>Use the map's center (N)</button>`
        : html`${settings(nearby)}${results(parts)}`
    }
  </section>`;
}

function settings(nearby: Nearby): TemplateResult {
  const { units, radius } = nearby;
  const steps = radiusSteps(units);
  const type = (event: Event) => {
    const input = parseRadius((event.target as HTMLInputElement).value, units);
    if (input !== null) nearby.setRadius(input);
  };
  const slide = (event: Event) => nearby.setRadius(steps[Number((event.target as HTMLInputElement).value)]!);
  return html`<div class="nearby-settings">
    <label for="nearby-radius">Radius, ${UNIT_NAMES[units]}</label>
    <div class="nearby-radius">
      <input type="range" min="0" max=${steps.length - 1} .value=${live(String(nearestStep(radius!, units)))}
        aria-label="Radius, in steps" aria-valuetext="${radius} ${UNIT_NAMES[units]}" @input=${slide}>
      <input id="nearby-radius" type="number" min="0.01" max=${radiusMax(units)} step="any" inputmode="decimal"
        .value=${String(radius)} @change=${type}>
    </div>
    <label for="nearby-age">Seen in</label>
    <select id="nearby-age" @change=${(event: Event) => nearby.setAgeHoursMax(Number((event.target as HTMLSelectElement).value))}>
      ${AGES.map(([hours, label]) => html`<option value=${hours} .selected=${live(hours === nearby.ageHoursMax)}>${label}</option>`)}
    </select>
    <button class="wide" @click=${() => nearby.aim()}>Move the circle</button>
  </div>`;
}

function results(parts: NearbyPanelParts): TemplateResult {
  const { nearby, zone } = parts;
  const { state, fault } = nearby;
  return html`${
    state === "failed" && fault !== null
      ? faultNote(fault, { label: "Try again", act: () => nearby.retry() })
      : html`<p role="status">${summary(nearby, zone)}</p>`
  }
    ${
      nearby.matches.length === 0
        ? nothing
        : html`<ol class="nearby-list">
      ${repeat(
        nearby.matches,
        ({ id }) => id,
        (device) => row(device, parts),
      )}
    </ol>`
    }
    ${
      nearby.hasMore
        ? html`<button class="wide" ?disabled=${nearby.state === "loading"} @click=${() => nearby.more()}>
      Load more</button>`
        : nothing
    }`;
}

function summary({ state, matches, total, queriedMs }: Nearby, zone: string): string {
  if (state === "loading" && matches.length === 0) return "Searching…";
  const when = `at ${minuteText(queriedMs, zone)}`;
  if (total === 0) return `No devices here ${when}. Try a larger radius or a longer time.`;
  const count = counted(total, "device");
  return matches.length < total
    ? `${count} ${when}, showing the ${matches.length} nearest`
    : `${count} ${when}, nearest first`;
}

function row(device: NearbyDevice, { nearby, table, chosen }: NearbyPanelParts): TemplateResult {
  const { id, distanceMeters, bearingDegrees, timestampMs } = device;
  const isChosen = chosen.id === id;
  const tableRow = table.rowOf(id);
  return html`<li class="nearby-row">
    <button aria-current=${isChosen ? "true" : nothing} @click=${() => chosen.choose(id)}>
      <span class="name">${deviceBadge(tableRow === undefined ? null : table.lookOf(tableRow))}${table.labelOf(id)}</span>
      <span class="soft">${distanceText(distanceMeters, nearby.units)} ${compassPoint(bearingDegrees)}</span>
      <span class="soft">${agoText(timestampMs, nearby.queriedMs)}</span>
    </button>
  </li>`;
}
