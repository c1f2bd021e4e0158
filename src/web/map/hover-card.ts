import { html, nothing, render, type TemplateResult } from "lit-html";
import type { MapLibreMap } from "maplibre-gl";
import type { CurrentAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import { deviceBadge } from "../devices/device-badge.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { activityText, ageText } from "../devices/freshness.ts";
import type { Units } from "../geo/units.ts";
import { latitudeOf, longitudeOf } from "../geo/world.ts";
import type { DotBuffer } from "../gl/dot-buffer.ts";

/* What a device says of itself while the mouse is over its dot. */

export interface HoverCardParts {
  readonly table: DeviceTable;
  readonly buffer: DotBuffer;
  readonly api: Pick<Api, "get">;
  readonly settings: { readonly units: Units };
}

/** The mouse rests this long on a dot before its battery is asked for, which the live stream lacks. */
const REST_MS = 150;
const REFRESH_MS = 1000;
/** A dot that has moved this far from the mouse takes its card away. */
const LEAVE_PIXELS = 48;
/** Between a dot and its card. */
const GAP_PIXELS = 16;

/** A card beside the dot under the mouse. It moves with the dot. */
export class HoverCard {
  readonly #parts: HoverCardParts;
  readonly #element = document.createElement("div");
  #map: MapLibreMap | null = null;
  #row: number | null = null;
  #batteryPercent: number | null = null;
  #mouse = { x: 0, y: 0 };
  #refreshing: ReturnType<typeof setInterval> | undefined;
  #asking = new AbortController();

  constructor(parts: HoverCardParts) {
    this.#parts = parts;
    this.#element.className = "hover-card";
    this.#element.hidden = true;
    this.#element.setAttribute("aria-hidden", "true"); // The list says the same.
    parts.table.onChange(({ kind }) => {
      if (kind === "all") this.show(null);
    });
  }

  addTo(map: MapLibreMap): void {
    this.#map = map;
    map.getContainer().append(this.#element);
    map.on("render", () => this.#place());
  }

  /** Shows the card of a row at the mouse, in pixels of the map; null hides it. */
  show(row: number | null, mouse: { readonly x: number; readonly y: number } = this.#mouse): void {
    this.#mouse = mouse;
    if (row === this.#row) return;
    this.#row = row;
    this.#batteryPercent = null;
    this.#asking.abort();
    clearInterval(this.#refreshing);
    this.#element.hidden = row === null;
    this.#draw();
    if (row === null) return;
    this.#refreshing = setInterval(() => this.#draw(), REFRESH_MS);
    this.#place();
    void this.#askBattery(row);
  }

  async #askBattery(row: number): Promise<void> {
    const { api, table } = this.#parts;
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    await new Promise((resolve) => setTimeout(resolve, REST_MS));
    if (signal.aborted) return;
    const path = `/api/v1/devices/${encodeURIComponent(table.ids[row]!)}/locations/current`;
    try {
      const { location } = await api.get<CurrentAnswer>(path, {}, signal);
      if (signal.aborted) return;
      this.#batteryPercent = location.battery_level ?? null;
      this.#draw();
    } catch {
      // The card is complete without a battery.
    }
  }

  #draw(): void {
    const row = this.#row;
    const card = row === null ? nothing : hoverFacts(this.#parts, row, this.#batteryPercent, Date.now());
    render(card, this.#element);
  }

  #place(): void {
    if (this.#row === null || this.#map === null) return;
    const { x, y } = this.#parts.buffer.positionAt(this.#row, performance.now());
    // On the copy of the world that the mouse is over.
    const turns = Math.round(
      (this.#map.unproject([this.#mouse.x, this.#mouse.y]).lng - longitudeOf(x)) / 360,
    );
    const at = this.#map.project([longitudeOf(x) + 360 * turns, latitudeOf(y)]);
    if (Math.hypot(at.x - this.#mouse.x, at.y - this.#mouse.y) > LEAVE_PIXELS) {
      this.show(null);
      return;
    }
    const { clientWidth, clientHeight } = this.#map.getContainer();
    this.#element.style.translate = cardPlace(at, clientWidth, clientHeight);
  }
}

function hoverFacts(
  { table, settings }: HoverCardParts,
  row: number,
  batteryPercent: number | null,
  nowMs: number,
): TemplateResult {
  const [id, label] = [table.ids[row]!, table.labels[row]!];
  return html`<strong>${deviceBadge(table.lookOf(row))}${label}</strong>
    ${label === id ? nothing : html`<span class="id soft">${id}</span>`}
    <span>${activityText(table, row, nowMs, settings.units)}</span>
    <span class="soft">${ageText(table.timestampMs[row]!, nowMs)}</span>
    ${batteryPercent === null ? nothing : html`<span class="soft">Battery ${Math.round(batteryPercent)} %</span>`}`;
}

/** The `translate` of a card beside a dot, on the side that has more space. */
export function cardPlace(
  { x, y }: { readonly x: number; readonly y: number },
  mapWidth: number,
  mapHeight: number,
): string {
  const along = x > mapWidth / 2 ? `calc(${pixels(x - GAP_PIXELS)} - 100%)` : pixels(x + GAP_PIXELS);
  const down = y > mapHeight / 2 ? `calc(${pixels(y)} - 100%)` : pixels(y);
  return `${along} ${down}`;
}

function pixels(count: number): string {
  return `${Math.round(count)}px`;
}
