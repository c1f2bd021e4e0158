import { html, nothing, type TemplateResult } from "lit-html";
import type { Place } from "../geo/earth.ts";
import type { BaseMap } from "./base-map.ts";
import type { Camera, CameraListener } from "./map-camera.ts";

/* A line that says once how streets can be added, when a user looks at a city without them. */

/** From here on streets would be seen. */
const CITY_ZOOM = 11;

/** What the hint watches. */
export interface HintedMap {
  /** Null until it is loaded. */
  readonly baseMap: BaseMap | null;
  onCamera(listener: CameraListener): unknown;
}

/** Where the user looks at a city without streets; null otherwise. */
export function placeWithoutStreets(camera: Camera, { streets }: BaseMap): Place | null {
  const { latitude, longitude, zoom } = camera;
  if (zoom < CITY_ZOOM) return null;
  const isCovered = (streets?.areas ?? []).some(
    ([west, south, east, north]) =>
      longitude >= west && longitude <= east && latitude >= south && latitude <= north,
  );
  return isCovered ? null : { latitude, longitude };
}

export class StreetsHint {
  readonly #changed: () => void;
  #isClosed = false;
  #place: Place | null = null;

  constructor(map: HintedMap, changed: () => void) {
    this.#changed = changed;
    map.onCamera((camera) => {
      if (this.#isClosed || map.baseMap === null) return;
      this.#show(placeWithoutStreets(camera, map.baseMap));
    });
  }

  /** Null while the hint is not shown. */
  get place(): Place | null {
    return this.#place;
  }

  /** Until the page is opened again. */
  close(): void {
    this.#isClosed = true;
    this.#show(null);
  }

  #show(place: Place | null): void {
    if (place === null && this.#place === null) return;
    this.#place = place;
    this.#changed();
  }
}

/** The line, with the command for what the map shows. */
export function streetsHint(hint: StreetsHint): TemplateResult | typeof nothing {
  if (hint.place === null) return nothing;
  const { latitude, longitude } = hint.place;
  const near = `${latitude.toFixed(2)},${longitude.toFixed(2)}`;
  return html`<div class="visitor streets-hint" role="note">
    <p>No streets here yet. On the server, <code>map fetch --near ${near}</code> adds them:
      <span class="soft">docs/streets.md</span></p>
    <button class="quiet" aria-label="Hide the note about streets" @click=${() => hint.close()}>✕</button>
  </div>`;
}
