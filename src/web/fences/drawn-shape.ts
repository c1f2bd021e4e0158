import { metersBetween, type Place, type Position } from "../geo/earth.ts";
import type { FenceGeometry, NewFence } from "./fence.ts";

/** A shape of the drawing tool. */
export type DrawnShape =
  | { readonly kind: "circle"; readonly center: Position; readonly radiusMeters: number }
  | { readonly kind: "polygon"; readonly ring: readonly Position[] };

/** The shape of a geofence that the tool can change; null if it is another, which can be drawn anew. */
export function drawnShapeOf({ geometry, properties }: NewFence): DrawnShape | null {
  if (geometry.type === "Point")
    return { kind: "circle", center: geometry.coordinates, radiusMeters: properties.radius_meters ?? 0 };
  const ring = onlyRing(geometry);
  return ring === null ? null : { kind: "polygon", ring };
}

function onlyRing(geometry: FenceGeometry): readonly Position[] | null {
  return geometry.type === "Polygon" && geometry.coordinates.length === 1 ? geometry.coordinates[0]! : null;
}

/** A circle by its corners, which is all that the tool knows of it. */
export function circleOf(ring: readonly Position[]): DrawnShape & { readonly kind: "circle" } {
  const center: Place = {
    latitude: middleOf(ring.map(([, latitude]) => latitude)),
    longitude: middleOf(ring.map(([longitude]) => longitude)),
  };
  const radii = ring.map(([longitude, latitude]) =>
    metersBetween(center.latitude, center.longitude, latitude, longitude),
  );
  const radiusMeters = radii.reduce((sum, radius) => sum + radius, 0) / radii.length;
  return { kind: "circle", center: [center.longitude, center.latitude], radiusMeters };
}

function middleOf(values: readonly number[]): number {
  return (Math.min(...values) + Math.max(...values)) / 2;
}
