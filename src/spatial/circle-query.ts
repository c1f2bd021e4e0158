/** What is asked of an index of positions: those within a circle. */
export interface CircleQuery {
  /** Center in degrees. */
  readonly latitude: number;
  readonly longitude: number;
  readonly radiusMeters: number;
  /** Leaves out what is older. */
  readonly oldestMs: number;
  /** Leaves out what is less accurate; Infinity keeps all, and what has no accuracy is always kept. */
  readonly accuracyMetersMax: number;
  readonly offset: number;
  readonly limit: number;
}

/** One page of what a circle holds. */
export interface Found {
  readonly count: number;
  /**
   * Numbers, distances and initial bearings (degrees clockwise from north, 0 to before 360) of the first `count`;
   * good until the next `find`, which may use the same arrays.
   */
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
  /**
   * Whether this is the page. It is not, and has nobody, where so many are at one distance that the order of devices is
   * needed, and that isn't ready.
   */
  readonly isInOrder: boolean;
  /** All that match, on this page or not. */
  readonly matches: number;
  /** All positions in cells that touch the circle, fresh or not. */
  readonly candidates: number;
}
