import type { Bounds } from "../geo/bounds.ts";
import type { Place } from "../geo/earth.ts";
import type { Covered } from "../map/map-camera.ts";

/** The part of the map that moves. */
export interface MovingMap {
  fit(bounds: Bounds, zoomMax?: number, covered?: Covered): void;
  flyTo(place: Place & { readonly zoom?: number }, isAnimated?: boolean, covered?: Covered): void;
}

/** The width of the card with its margins, and its share of a phone's height. fences.css has the same values. */
const CARD_PIXELS = 332;
const CARD_SHARE = 0.56;
const WIDE_PIXELS_MIN = 800;

function coveredByCard(): Covered {
  return innerWidth > WIDE_PIXELS_MIN
    ? { left: CARD_PIXELS, bottom: 0 }
    : { left: 0, bottom: CARD_SHARE * innerHeight };
}

export function fitBesideCard(map: MovingMap, bounds: Bounds): void {
  map.fit(bounds, undefined, coveredByCard());
}

export function flyBesideCard(map: MovingMap, place: Place & { readonly zoom?: number }): void {
  map.flyTo(place, true, coveredByCard());
}
