import RBush from "rbush";
import { assert } from "../lib/assert.ts";
import type { Steps } from "../lib/schedule/steps.ts";
import { type Box, circleBoxes } from "../model/geo/box.ts";
import { RADIANS_PER_DEGREE } from "../model/geo/distance.ts";
import { CELL_BITS_MAX, geohashBox, geohashCell } from "../model/geo/geohash.ts";
import { devicesTouching, widened } from "./boxes.ts";
import { PositionCells } from "./cells.ts";
import { NO_DEVICE } from "./leaf-rows.ts";
import { type LoadedPositions, loadPositions } from "./load.ts";
import { NO_ACCURACY, PositionNode } from "./node.ts";
import type { CirclePage, CircleQuery, DeviceOrder, Positions } from "./positions.ts";
import { PositionColumns } from "./positions.ts";
import { NO_ADDRESS, POINT, ROW_BITS, RowAddresses, RowPool } from "./row-pool.ts";
import type { PositionSearch } from "./search.ts";

/** Cells of about 600 by 300 km: a city lies in one or a few, a fleet all over the world in some thousands. */
const COARSE_BITS = 12;
const COARSE_SPAN = 2 ** (CELL_BITS_MAX - COARSE_BITS);

/** A coarse cell with positions, in the form that the R-tree needs. */
interface Bucket {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly node: PositionNode;
}

/**
 * The positions of one app's devices, by device number: coarse geohash cells (buckets), an R-tree of those with
 * devices, and below each a tree of finer cells that are split as they fill up. A search counts cells inside its circle
 * without reading their positions, and reads only cells at the edge of the circle and around the page. Indexes may
 * share a search, whose columns take more memory than a small index.
 */
export class PositionIndex {
  /** By cell number. */
  readonly #buckets = new Map<number, Bucket>();
  readonly #occupied = new RBush<Bucket>();
  readonly #cells = new PositionCells<PositionNode>();
  readonly #pool = new RowPool();
  readonly #addresses = new RowAddresses();
  /** Valid for the devices in the index only. */
  readonly byDevice = new PositionColumns();
  readonly #search: PositionSearch;
  readonly #positions: Positions;

  constructor(search: PositionSearch, deviceOrder: DeviceOrder) {
    this.#search = search;
    this.#positions = {
      cells: this.#cells,
      byDevice: this.byDevice,
      deviceOrder,
      leafOf: (device) => this.#leafAt(this.#addresses.of(device)),
      rowOf: (device) => this.#leafAt(this.#addresses.of(device)).rowOf(device, this.#addresses.of(device)),
    };
  }

  /** Adds or moves a device. Degrees, milliseconds since 1970, meters; NaN if it has no accuracy. */
  set(
    device: number,
    latitude: number,
    longitude: number,
    timestampMs: number,
    accuracyMeters: number,
  ): void {
    const cell = cellOf(latitude, longitude);
    const accuracy = Number.isNaN(accuracyMeters) ? NO_ACCURACY : accuracyMeters;
    const lat = latitude * RADIANS_PER_DEGREE;
    const lon = longitude * RADIANS_PER_DEGREE;
    const cosLat = Math.cos(lat);
    const x = cosLat * Math.cos(lon);
    const y = cosLat * Math.sin(lon);
    const z = Math.sin(lat);
    const address = this.#addresses.of(device);
    const known = address === NO_ADDRESS ? null : this.#leafAt(address);
    if (known?.holds(cell)) {
      const row = known.rowOf(device, address);
      const knownMs = known.timeAt(row);
      const knownAccuracy = known.accuracyAt(row);
      known.replaceRow(row, timestampMs, accuracy, x, y, z, device, this.#addresses, this.#pool);
      for (let node: PositionNode | null = known; node !== null; node = node.parent)
        node.noteReplaced(knownMs, knownAccuracy, timestampMs, accuracy);
    } else {
      if (known !== null) this.remove(device);
      const leaf = this.#leafFor(cell, device);
      leaf.insertRow(timestampMs, accuracy, x, y, z, device, this.#addresses, this.#pool);
      for (let node: PositionNode | null = leaf; node !== null; node = node.parent)
        node.noteAdded(timestampMs, accuracy);
    }
    this.byDevice.set(device, latitude, longitude);
  }

  /** Fills an empty index with many devices, in steps; adding them one by one takes four times as long. */
  *load(positions: LoadedPositions): Steps<void> {
    assert(this.#buckets.size === 0, "an index that is loaded has no devices");
    this.byDevice.load(positions.latitude, positions.longitude);
    yield* loadPositions(positions, {
      cells: this.#cells,
      addresses: this.#addresses,
      pool: this.#pool,
      bucketFor: (cell) => this.#bucketFor(cell),
    });
  }

  /** Removes a device, which must be in the index. */
  remove(device: number): void {
    const address = this.#addresses.of(device);
    assert(address !== NO_ADDRESS, "a device that is removed was added");
    const leaf = this.#leafAt(address);
    const row = leaf.rowOf(device, address);
    const timeMs = leaf.timeAt(row);
    const accuracy = leaf.accuracyAt(row);
    leaf.removeRow(row, this.#addresses);
    this.#addresses.clear(device);
    let sparse: PositionNode | null = null;
    for (let node: PositionNode | null = leaf; node !== null; node = node.parent) {
      node.noteRemoved(timeMs, accuracy);
      if (node.firstChild !== null && node.isSparse) sparse = node;
      if (node.parent === null && node.count === 0) this.#dropBucket(node);
    }
    if (sparse !== null && sparse.count > 0) this.#merge(sparse);
  }

  /** Positions within a circle, nearest first by `haversineMeters`, then in the order of devices. */
  find(circle: CircleQuery): CirclePage {
    const { latitude, longitude } = circle;
    const cell = cellOf(latitude, longitude);
    const home = this.#buckets.get(Math.floor(cell / COARSE_SPAN))?.node ?? null;
    return this.#search.find(this.#positions, circle, this.#touchedBuckets(circle), home, cell);
  }

  /**
   * Devices whose position may lie in one of some boxes, each once, in no order: all that do, and some around. Null if
   * there are more than `devicesMax`: visiting all devices is then as fast.
   */
  near(boxes: readonly Box[], devicesMax: number): Uint32Array | null {
    const around = boxes.map(widened);
    const buckets = new Set(around.flatMap((box) => this.#bucketsIn(box))); // A set, as a bucket may touch two boxes.
    const nodes = [...buckets].map(({ node }) => node);
    return devicesTouching(nodes, around, devicesMax);
  }

  #leafAt(address: number): PositionNode {
    return this.#cells.nodes[address >>> ROW_BITS]!;
  }

  #touchedBuckets({ latitude, longitude, radiusMeters }: CircleQuery): readonly Bucket[] {
    const boxes = circleBoxes(latitude, longitude, radiusMeters);
    if (boxes.length === 1) return this.#bucketsIn(boxes[0]!);
    // A cell that touches two boxes (at a pole, or with one around the world) counts once.
    return [...new Set(boxes.flatMap((box) => this.#bucketsIn(box)))];
  }

  #bucketsIn({ minLatitude, minLongitude, maxLatitude, maxLongitude }: Box): Bucket[] {
    return this.#occupied.search({
      minX: minLongitude,
      minY: minLatitude,
      maxX: maxLongitude,
      maxY: maxLatitude,
    });
  }

  /** The leaf for a device in a finest cell, split until it has room for one more. */
  #leafFor(cell: number, device: number): PositionNode {
    let node = this.#bucketFor(cell);
    for (;;) {
      while (node.firstChild !== null) node = node.childFor(cell, device, this.#cells, this.#pool);
      if (!node.isFull) return node;
      this.#split(node);
    }
  }

  #bucketFor(cell: number): PositionNode {
    const number = Math.floor(cell / COARSE_SPAN);
    const known = this.#buckets.get(number);
    if (known !== undefined) return known.node;
    const { minLatitude, minLongitude, maxLatitude, maxLongitude } = geohashBox(number, COARSE_BITS);
    const bucket: Bucket = {
      minX: minLongitude,
      minY: minLatitude,
      maxX: maxLongitude,
      maxY: maxLatitude,
      node: new PositionNode(null, number, COARSE_BITS, this.#cells.takeSiblings(), this.#pool.take(0)),
    };
    this.#cells.put(bucket.node.number, bucket.node);
    this.#buckets.set(number, bucket);
    this.#occupied.insert(bucket);
    return bucket.node;
  }

  #dropBucket(node: PositionNode): void {
    const number = node.firstCell / COARSE_SPAN;
    for (const leaf of leavesOf(node)) leaf.release(this.#pool);
    node.dropChildren(this.#cells);
    this.#cells.giveBackSiblings(node.number);
    this.#occupied.remove(this.#buckets.get(number)!);
    this.#buckets.delete(number);
  }

  /** Moves the rows of a leaf to finer cells. */
  #split(leaf: PositionNode): void {
    const { start, rowCount } = leaf;
    const node = this.#finestOfAll(leaf);
    for (let row = start; row < start + rowCount; row++) {
      const device = leaf.points[row * POINT.width + POINT.device]!;
      if (device === NO_DEVICE) continue;
      this.#moveRow(leaf, row, node.childFor(this.#cellOf(device), device, this.#cells, this.#pool));
    }
    leaf.release(this.#pool);
    assert(node.childCount === node.count, "a leaf's rows are all in finer cells once it is split");
  }

  /**
   * The finest cell that contains all rows of a leaf, created if it is finer than the leaf. If all are at one point, it
   * is up to 20 levels below; moving rows through each level took over a millisecond.
   */
  #finestOfAll(leaf: PositionNode): PositionNode {
    const { points, start, rowCount } = leaf;
    let [firstCell, firstDevice] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    let [lastCell, lastDevice] = [0, 0];
    for (let row = start; row < start + rowCount; row++) {
      const device = points[row * POINT.width + POINT.device]!;
      if (device === NO_DEVICE) continue;
      const cell = this.#cellOf(device);
      firstCell = Math.min(firstCell, cell);
      lastCell = Math.max(lastCell, cell);
      firstDevice = Math.min(firstDevice, device);
      lastDevice = Math.max(lastDevice, device);
    }
    for (let node = leaf; ; ) {
      const child = node.childFor(firstCell, firstDevice, this.#cells, this.#pool);
      if (child !== node.childFor(lastCell, lastDevice, this.#cells, this.#pool)) return node;
      child.count = node.count;
      child.release(this.#pool); // The rows go straight to its children.
      node = child;
    }
  }

  #cellOf(device: number): number {
    return cellOf(this.byDevice.latitudeOf(device), this.byDevice.longitudeOf(device));
  }

  /** Turns a node with few positions into a leaf. */
  #merge(node: PositionNode): void {
    const leaves = leavesOf(node);
    const { count } = node;
    node.empty(this.#cells, this.#pool);
    for (const leaf of leaves) {
      const { start, rowCount } = leaf;
      for (let row = start; row < start + rowCount; row++)
        if (leaf.points[row * POINT.width + POINT.device] !== NO_DEVICE) this.#moveRow(leaf, row, node);
    }
    for (const leaf of leaves) leaf.release(this.#pool);
    assert(node.count === count, "a node that becomes a leaf has the rows that its leaves had");
    assert(node.isConsistent(), "a leaf's rows are in order of time, and have room");
  }

  #moveRow({ times, accuracies, points }: PositionNode, row: number, to: PositionNode): void {
    const timeMs = times[row]!;
    const accuracy = accuracies[row]!;
    const at = row * POINT.width;
    const device = points[at + POINT.device]!;
    const [x, y, z] = [points[at + POINT.x]!, points[at + POINT.y]!, points[at + POINT.z]!];
    to.insertRow(timeMs, accuracy, x, y, z, device, this.#addresses, this.#pool);
    to.noteAdded(timeMs, accuracy);
  }
}

function cellOf(latitude: number, longitude: number): number {
  return geohashCell(latitude, longitude, CELL_BITS_MAX);
}

function leavesOf(node: PositionNode): PositionNode[] {
  if (node.firstChild === null) return [node];
  const leaves: PositionNode[] = [];
  for (let child: PositionNode | null = node.firstChild; child !== null; child = child.nextSibling)
    leaves.push(...leavesOf(child));
  return leaves;
}
