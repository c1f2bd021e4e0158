import type { View } from "../../../auth/view.ts";
import type { BoundingBox } from "../../../model/geo/bounding-box.ts";
import { EARTH_RADIUS_METERS } from "../../../model/geo/distance.ts";
import { copyUnitVector, setUnitVector, squaredChordAt } from "../../../model/geo/unit-vector.ts";
import type { PositionBlock } from "../positions.ts";
import { SILENCE_MS_MAX, SPEED_MAX_METERS_PER_SECOND } from "../positions.ts";
import type { PointColumns } from "./vertices.ts";

/** Records as points of lines, and the gaps between lines. */

/** Earth radii per millisecond. */
const SPEED_MAX = SPEED_MAX_METERS_PER_SECOND / 1000 / EARTH_RADIUS_METERS;

/** Restricts or blurs what is shown of records. */
export interface PointOptions {
  /** The area that has to be drawn; null for all. */
  readonly box: BoundingBox | null;
  /** Blurs positions and times; null if they are exact. */
  readonly blur: View | null;
}

/** A block of points in columns from index 1 on; index 0 has the last point of the block before. */
export class Points implements PointColumns {
  count = 0;
  timestampMs = new Float64Array(1);
  latitude = new Float64Array(1);
  longitude = new Float64Array(1);
  /** Unit vectors, for which poles and antimeridian are no special cases. */
  vectors = new Float64Array(3);
  /** 1 if a line leads to the point from the one before. */
  joined = new Uint8Array(1);
  readonly #box: BoundingBox | null;
  readonly #blur: View | null;
  /** Two points within this distance, in earth radii, may be one: blurring moves them so far. */
  readonly #slack: number;
  /** When the device was last at the point: records that are blurred to one position are one point. */
  #leftMs = new Float64Array(1);
  /** Whether there is a point at 0. */
  #hasBefore = false;

  constructor({ box, blur }: PointOptions) {
    this.#box = box;
    this.#blur = blur;
    this.#slack = slackOf(blur);
  }

  load(block: PositionBlock): void {
    this.#makeRoom(block.count + 1);
    this.#keepLast();
    if (this.#blur === null) this.#copy(block);
    else this.#copyBlurred(block, this.#blur);
    for (let i = 1; i <= this.count; i++) {
      setUnitVector(this.vectors, i, this.latitude[i]!, this.longitude[i]!);
      this.joined[i] = (i > 1 || this.#hasBefore) && this.#isJoined(i) ? 1 : 0;
    }
    this.#hasBefore ||= this.count > 0;
  }

  /** Whether a point without lines is shown. */
  isShown(i: number): boolean {
    return this.#box === null || this.#box.contains(this.latitude[i]!, this.longitude[i]!);
  }

  #copy({ count, timestampMs, latitude, longitude }: PositionBlock): void {
    this.count = count;
    this.timestampMs.set(timestampMs.subarray(0, count), 1);
    this.#leftMs.set(timestampMs.subarray(0, count), 1);
    this.latitude.set(latitude.subarray(0, count), 1);
    this.longitude.set(longitude.subarray(0, count), 1);
  }

  #copyBlurred({ count, timestampMs, latitude, longitude }: PositionBlock, blur: View): void {
    let last = 0;
    for (let row = 0; row < count; row++) {
      const ms = blur.timeOf(timestampMs[row]!);
      const point = blur.pointOf(latitude[row]!, longitude[row]!);
      const isKnown = last > 0 || this.#hasBefore;
      if (!isKnown || point.latitude !== this.latitude[last] || point.longitude !== this.longitude[last]) {
        last++;
        this.timestampMs[last] = ms;
        this.latitude[last] = point.latitude;
        this.longitude[last] = point.longitude;
      }
      this.#leftMs[last] = ms;
    }
    this.count = last;
  }

  #isJoined(i: number): boolean {
    const { latitude, longitude } = this;
    const elapsedMs = this.timestampMs[i]! - this.#leftMs[i - 1]!;
    if (elapsedMs > SILENCE_MS_MAX) return false;
    const reach = elapsedMs * SPEED_MAX + this.#slack;
    if (squaredChordAt(this.vectors, i - 1, this.vectors, i) > reach * reach) return false;
    const box = this.#box;
    return box === null || box.touches(latitude[i - 1]!, longitude[i - 1]!, latitude[i]!, longitude[i]!);
  }

  #keepLast(): void {
    const last = this.count;
    this.timestampMs[0] = this.timestampMs[last]!;
    this.latitude[0] = this.latitude[last]!;
    this.longitude[0] = this.longitude[last]!;
    this.#leftMs[0] = this.#leftMs[last]!;
    copyUnitVector(this.vectors, last, this.vectors, 0);
  }

  #makeRoom(rows: number): void {
    if (rows <= this.joined.length) return;
    this.timestampMs = widened(this.timestampMs, rows);
    this.latitude = widened(this.latitude, rows);
    this.longitude = widened(this.longitude, rows);
    this.#leftMs = widened(this.#leftMs, rows);
    this.vectors = widened(this.vectors, 3 * rows);
    this.joined = new Uint8Array(rows);
  }
}

function widened(column: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(length);
  wider.set(column);
  return wider;
}

/** Blurring moves times by up to a minute, and positions by up to half the diagonal of a cell. */
function slackOf(blur: View | null): number {
  const precisionMeters = blur?.precisionMeters ?? null;
  if (precisionMeters === null) return 0;
  return 60_000 * SPEED_MAX + (1.5 * precisionMeters) / EARTH_RADIUS_METERS;
}
