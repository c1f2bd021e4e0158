import { Center, type DevicePositions } from "./center.ts";
import type { PositionNode } from "./node.ts";
import { NO_POSITIONS, type Positions } from "./positions.ts";
import type { PositionRing } from "./ring.ts";
import { POINT, ROW_BITS, ROW_MASK } from "./row-pool.ts";
import { arcMeters, bearingDegrees, CHORD_MAX, CHORD_MIN, swapMax } from "./squared-chord.ts";

const ROWS_INITIAL = 128;
/** Shorter runs are sorted by insertion. */
const SPLIT_MIN = 16;
/** Below this slope from a meridian, the bearing is computed from degrees: due north is 0, not a hair below 360. */
const MERIDIAN_SLOPE = 1e-9;

/** The page of a sorted ring: devices, distances and bearings, in columns that the next search reuses. */
export class PositionPage {
  devices = new Uint32Array(ROWS_INITIAL);
  meters = new Float64Array(ROWS_INITIAL);
  bearings = new Float64Array(ROWS_INITIAL);
  readonly #ring: PositionRing;
  readonly #leaves: readonly PositionNode[];
  #positions: DevicePositions = NO_POSITIONS.byDevice;
  #deviceOrder = NO_POSITIONS.deviceOrder;
  /** Devices and distances of entries at about one distance, in the order of the ring. */
  #tiedDevices = new Uint32Array(0);
  #tiedMeters = new Float64Array(0);
  #center = new Center(0, 0);
  #start = 0;
  #end = 0;

  /** `leaves` are those that the ring's rows refer to. */
  constructor(ring: PositionRing, leaves: readonly PositionNode[]) {
    this.#ring = ring;
    this.#leaves = leaves;
  }

  /** Writes entries `start` to before `end` of the ring, in order of distance from the center, then of devices. */
  fill(start: number, end: number, center: Center, { byDevice, deviceOrder }: Positions): void {
    this.#center = center;
    this.#positions = byDevice;
    this.#deviceOrder = deviceOrder;
    this.#start = start;
    this.#end = end;
    if (end - start > this.devices.length) this.#makeRoom(end - start);
    const { sorted, count } = this.#ring;
    const tieMax = swapMax(sorted[count - 1]!);
    let from = start;
    while (from > 0 && sorted[from]! - sorted[from - 1]! <= tieMax) from--;
    let before = from; // The first entry that is not written yet.
    while (from < end) {
      let to = from + 1;
      while (to < count && sorted[to]! - sorted[to - 1]! <= tieMax) to++;
      if (to > from + 1) {
        this.#write(before, from);
        this.#writeTied(from, to);
        before = to;
      }
      from = to;
    }
    this.#write(before, end);
  }

  #makeRoom(rows: number): void {
    const length = Math.max(rows, 2 * this.devices.length);
    this.devices = new Uint32Array(length);
    this.meters = new Float64Array(length);
    this.bearings = new Float64Array(length);
  }

  /** Writes the entries of two ranks and all between, which must be on the page. */
  #write(from: number, to: number): void {
    const { rows, order, sorted } = this.#ring;
    const { x, y, z, eastX, eastY, northX, northY, northZ } = this.#center;
    const { devices, meters, bearings } = this;
    const leaves = this.#leaves;
    const start = this.#start;
    for (let rank = from; rank < to; rank++) {
      const entry = order[rank]!;
      const chord = sorted[rank]!;
      const leaf = leaves[rows[entry]! >>> ROW_BITS]!;
      const { points } = leaf;
      const at = (leaf.start + (rows[entry]! & ROW_MASK)) * POINT.width;
      const device = points[at + POINT.device]!;
      const dx = points[at + POINT.x]! - x;
      const dy = points[at + POINT.y]! - y;
      const dz = points[at + POINT.z]! - z;
      const east = dx * eastX + dy * eastY;
      const north = dx * northX + dy * northY + dz * northZ;
      const row = rank - start;
      devices[row] = device;
      if (chord > CHORD_MIN && chord < CHORD_MAX && Math.abs(east) > MERIDIAN_SLOPE * Math.abs(north)) {
        meters[row] = arcMeters(chord);
        bearings[row] = bearingDegrees(east, north);
      } else {
        meters[row] = this.#center.metersTo(this.#positions, device);
        bearings[row] = this.#center.bearingTo(this.#positions, device);
      }
    }
  }

  /** Writes entries at about one distance, ordered by haversines and devices. */
  #writeTied(from: number, to: number): void {
    const { order, rows } = this.#ring;
    const positions = this.#positions;
    const leaves = this.#leaves;
    const count = to - from;
    if (count > this.#tiedDevices.length) {
      this.#tiedDevices = new Uint32Array(count);
      this.#tiedMeters = new Float64Array(count);
    }
    const tiedDevices = this.#tiedDevices;
    const tiedMeters = this.#tiedMeters;
    let lastLatitude = Number.NaN;
    let lastLongitude = Number.NaN;
    let meters = 0;
    for (let tied = 0; tied < count; tied++) {
      const row = rows[order[from + tied]!]!;
      const leaf = leaves[row >>> ROW_BITS]!;
      const device = leaf.points[(leaf.start + (row & ROW_MASK)) * POINT.width + POINT.device]!;
      // Thousands may be at one point.
      const latitude = positions.latitudeOf(device);
      const longitude = positions.longitudeOf(device);
      if (latitude !== lastLatitude || longitude !== lastLongitude) {
        lastLatitude = latitude;
        lastLongitude = longitude;
        meters = this.#center.metersTo(positions, device);
      }
      tiedDevices[tied] = device;
      tiedMeters[tied] = meters;
    }
    const first = Math.max(from, this.#start);
    const end = Math.min(to, this.#end);
    this.#sort(0, count - 1, from, first - from, end - from);
    this.#write(first, end);
    for (let rank = first; rank < end; rank++)
      this.meters[rank - this.#start] = this.#tiedMeters[rank - from]!;
  }

  /**
   * Quicksort like the ring's, sorting only indexes `start` to before `end`. `rank` is the ring's rank of the first
   * index.
   */
  #sort(first: number, last: number, rank: number, start: number, end: number): void {
    const meters = this.#tiedMeters;
    const devices = this.#tiedDevices;
    let low = first;
    let high = last;
    while (high - low >= SPLIT_MIN && low < end && high >= start) {
      const pivot = (low + high) >>> 1;
      const pivotMeters = meters[pivot]!;
      const pivotDevice = devices[pivot]!;
      let left = low - 1;
      let right = high + 1;
      for (;;) {
        do left++;
        while (this.#compare(meters[left]!, devices[left]!, pivotMeters, pivotDevice) < 0);
        do right--;
        while (this.#compare(meters[right]!, devices[right]!, pivotMeters, pivotDevice) > 0);
        if (left >= right) break;
        this.#swap(left, right, rank);
      }
      if (right - low < high - right) {
        this.#sort(low, right, rank, start, end);
        low = right + 1;
      } else {
        this.#sort(right + 1, high, rank, start, end);
        high = right;
      }
    }
    if (high - low < SPLIT_MIN) this.#insert(low, high, rank);
  }

  #insert(first: number, last: number, rank: number): void {
    const meters = this.#tiedMeters;
    const devices = this.#tiedDevices;
    for (let next = first + 1; next <= last; next++)
      for (let at = next; at > first; at--) {
        if (this.#compare(meters[at - 1]!, devices[at - 1]!, meters[at]!, devices[at]!) <= 0) break;
        this.#swap(at - 1, at, rank);
      }
  }

  #swap(a: number, b: number, rank: number): void {
    const { order } = this.#ring;
    const meters = this.#tiedMeters;
    const devices = this.#tiedDevices;
    const [metersA, deviceA, entryA] = [meters[a]!, devices[a]!, order[rank + a]!];
    meters[a] = meters[b]!;
    devices[a] = devices[b]!;
    order[rank + a] = order[rank + b]!;
    meters[b] = metersA;
    devices[b] = deviceA;
    order[rank + b] = entryA;
  }

  #compare(metersA: number, deviceA: number, metersB: number, deviceB: number): number {
    return metersA === metersB ? this.#deviceOrder.compare(deviceA, deviceB) : metersA - metersB;
  }
}
