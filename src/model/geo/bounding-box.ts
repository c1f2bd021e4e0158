/** The area of a map: from `west` eastwards to `east`, in degrees, all four edges included. */
export class BoundingBox {
  readonly west: number;
  readonly south: number;
  /** Less than `west` if the box crosses ±180°. */
  readonly east: number;
  readonly north: number;
  /** Whether it contains the meridian ±180°, which is both 180 and -180. */
  readonly holdsAntimeridian: boolean;

  constructor(west: number, south: number, east: number, north: number) {
    this.west = west;
    this.south = south;
    this.east = east;
    this.north = north;
    this.holdsAntimeridian = west > east || west === -180 || east === 180;
  }

  contains(latitude: number, longitude: number): boolean {
    const { west, east } = this;
    if (latitude < this.south || latitude > this.north) return false;
    if (this.holdsAntimeridian && Math.abs(longitude) === 180) return true;
    return west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east;
  }

  /**
   * Whether the box meets the rectangle spanned by two positions the short way round, which contains every line that a
   * map may draw between them. Near a pole such lines may cross the pole, so there the rectangle extends to it.
   */
  touches(latitudeA: number, longitudeA: number, latitudeB: number, longitudeB: number): boolean {
    const [south, north] = latitudeA < latitudeB ? [latitudeA, latitudeB] : [latitudeB, latitudeA];
    const step = Math.abs(longitudeB - longitudeA);
    const width = Math.min(step, 360 - step);
    if (width > 90) return south + north > 0 ? this.north >= south : this.south <= north;
    if (south > this.north || north < this.south) return false;
    const within = Math.max(south, this.south);
    if (this.contains(within, longitudeA) || this.contains(within, longitudeB)) return true;
    // Neither end is between the box's meridians, so both of the box's meridians are between the ends, or neither is.
    const west = step > 180 ? Math.max(longitudeA, longitudeB) : Math.min(longitudeA, longitudeB);
    return degreesEast(west, this.west) <= width;
  }
}

/** Degrees east from one meridian to another, 0 to before 360. */
function degreesEast(one: number, other: number): number {
  return other < one ? other - one + 360 : other - one;
}
