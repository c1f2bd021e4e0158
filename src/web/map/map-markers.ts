import type { MapLibreMap, Marker } from "maplibre-gl";
import type { Place } from "../geo/earth.ts";
import type { Head } from "../history/track.ts";
import { placeOf } from "./map-clicks.ts";

/* The marks that are elements of the page: the head of the playback, and the handle of a position. */

/** Creates the markers, in the module that imports MapLibre's code. */
export interface MarkerCreation {
  createHead(map: MapLibreMap): Marker;
  createHandle(map: MapLibreMap): Marker;
}

/** A position that the user may move. */
export interface Handle extends Place {
  readonly label: string;
}

/** What happens when the user moves the handle. */
export interface HandleListener {
  /** Called with each place that it is dragged to. */
  drag(to: Place): void;
  /** The drag has ended. */
  drop(): void;
  /** Called with a key that is pressed on it; returns whether it was used. */
  press(key: { readonly key: string; readonly shiftKey: boolean }): boolean;
}

/** Remembers what is to be shown until there is a map. */
export class MapMarkers {
  #map: MapLibreMap | null = null;
  #creation: MarkerCreation | null = null;
  #head: Head | null = null;
  #headMarker: Marker | null = null;
  #handle: Handle | null = null;
  #handleMarker: Marker | null = null;
  #isFocusWanted = false;
  #listener: HandleListener | null = null;

  use(map: MapLibreMap, creation: MarkerCreation): void {
    this.#map = map;
    this.#creation = creation;
    this.setHead(this.#head);
    this.setHandle(this.#handle);
  }

  get head(): Head | null {
    return this.#head;
  }

  setHead(head: Head | null): void {
    this.#head = head;
    if (this.#map === null || this.#creation === null) return;
    if (head === null) {
      this.#headMarker?.remove();
      this.#headMarker = null;
      return;
    }
    this.#headMarker ??= this.#creation.createHead(this.#map);
    this.#headMarker.setLngLat([head.longitude, head.latitude]).setRotation(head.bearing ?? 0);
    this.#headMarker.getElement().classList.toggle("is-pointing", head.bearing !== null);
  }

  onHandle(listener: HandleListener): void {
    this.#listener = listener;
  }

  setHandle(handle: Handle | null): void {
    this.#handle = handle;
    if (this.#map === null || this.#creation === null) return;
    if (handle === null) {
      const hadFocus = this.#handleMarker?.getElement() === document.activeElement;
      this.#handleMarker?.remove();
      this.#handleMarker = null;
      if (hadFocus) this.#map.getCanvas().focus({ preventScroll: true });
      return;
    }
    this.#handleMarker ??= this.#createHandle(this.#map, this.#creation);
    const { latitude, longitude, label } = handle;
    this.#handleMarker.setLngLat([longitude, latitude]).getElement().setAttribute("aria-label", label);
    if (this.#isFocusWanted) this.focusHandle();
  }

  /** Gives the handle the focus, so that keys move it. */
  focusHandle(): void {
    this.#isFocusWanted = this.#handleMarker === null;
    this.#handleMarker?.getElement().focus({ preventScroll: true });
  }

  #createHandle(map: MapLibreMap, creation: MarkerCreation): Marker {
    const marker = creation.createHandle(map);
    const element = marker.getElement();
    element.addEventListener("keydown", (event) => {
      if (this.#listener?.press(event)) event.preventDefault();
    });
    marker.on("dragstart", () => element.focus({ preventScroll: true })); // MapLibre takes the focus from clicks.
    marker.on("drag", () => this.#listener?.drag(placeOf(marker.getLngLat())));
    marker.on("dragend", () => this.#listener?.drop());
    return marker;
  }
}
