/** A rectangle of latitudes and longitudes in degrees, all four edges included; it never crosses ±180. */
export interface Box {
  readonly minLatitude: number;
  readonly maxLatitude: number;
  readonly minLongitude: number;
  readonly maxLongitude: number;
}
