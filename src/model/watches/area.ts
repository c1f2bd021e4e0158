/**
 * Longitudes and latitudes in turn, in degrees, as GeoJSON orders them: one array, which takes a quarter of the memory
 * of a list of pairs.
 */
export type Line = Float64Array;

/** The outer ring of a polygon, then its holes. Each ends where it begins, and may be wound either way. */
export type Polygon = readonly Line[];

/**
 * What a fence covers. An edge is a straight line of longitudes and latitudes (RFC 7946), the short way round: it
 * crosses ±180° if its ends are more than 180° apart. Only if all longitudes are -180° and 180°, edges between these go
 * all round the earth. A ring that goes round the earth surrounds the pole on whose side the area is smaller.
 */
export type Area = Circle | Corridor | Polygons;

export interface Circle {
  readonly type: "Point";
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusMeters: number;
}

/** Everything up to this far from a line. */
export interface Corridor {
  readonly type: "LineString";
  readonly line: Line;
  readonly bufferMeters: number;
}

/** One polygon, or several that share no more than points. */
export interface Polygons {
  readonly type: "Polygon" | "MultiPolygon";
  readonly polygons: readonly Polygon[];
}
