import RBush from "rbush";
import { circleBoxes } from "../geo/circle-boxes.ts";
import { haversineMeters, initialBearingDegrees, RADIANS_PER_DEGREE } from "../geo/distance.ts";
import { CELL_BITS_MAX, geohashBox, geohashCell } from "../geo/geohash.ts";
import { NO_ACCURACY, PositionNode, ROW } from "./position-node.ts";
import { searchPositions } from "./position-search.ts";

/** Where the devices of one app are, by device number. */
export interface PositionIndex {
  /** Adds a device or moves it. Degrees, milliseconds since 1970, meters; NaN where it has no accuracy. */
  set(device: number, latitude: number, longitude: number, timestampMs: number, accuracyMeters: number): void;
  /** Takes out a device that was added. */
  remove(device: number): void;
  /** Positions within a circle, nearest first by `haversineMeters`, then in the order of devices. */
  find(circle: CircleQuery): Found;
}

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
  /** All that match, on this page or not. */
  readonly matches: number;
  /** All positions in cells that touch the circle, fresh or not. */
  readonly candidates: number;
}

/** 20 bits are cells of at most 39 by 20 km: as many as a city needs a few of, and a world some thousands. */
const COARSE_BITS = 20;
const COARSE_SPAN = 2 ** (CELL_BITS_MAX - COARSE_BITS);

/** A coarse cell with any positions, as the R-tree wants it. */
interface Bucket {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly node: PositionNode;
}

/**
 * Coarse buckets by geohash, an R-tree over those that hold any device, and below each a tree of finer cells that are
 * split as they fill. Cells inside a circle are counted without a look at their positions, and only cells at its
 * edge, and around the page, are looked into.
 */
export function createPositionIndex(compareDevices: (a: number, b: number) => number): PositionIndex {
  const buckets = new Map<number, Bucket>();
  const tree = new RBush<Bucket>();
  const leafOf: (PositionNode | undefined)[] = [];
  const timeOf: number[] = [];
  const latitudeOf: number[] = [];
  const longitudeOf: number[] = [];

  function bucketFor(cell: number): PositionNode {
    const number = Math.floor(cell / COARSE_SPAN);
    const known = buckets.get(number);
    if (known !== undefined) return known.node;
    const { minLatitude, minLongitude, maxLatitude, maxLongitude } = geohashBox(number, COARSE_BITS);
    const bucket: Bucket = {
      minX: minLongitude,
      minY: minLatitude,
      maxX: maxLongitude,
      maxY: maxLatitude,
      node: new PositionNode(null, number, COARSE_BITS),
    };
    buckets.set(number, bucket);
    tree.insert(bucket);
    return bucket.node;
  }

  function dropBucket(node: PositionNode): void {
    const number = node.firstCell / COARSE_SPAN;
    tree.remove(buckets.get(number)!);
    buckets.delete(number);
  }

  /** The leaf for a finest cell, split until it has room for one more. */
  function leafFor(cell: number): PositionNode {
    let node = bucketFor(cell);
    for (;;) {
      while (node.children !== null) node = node.childFor(cell);
      if (!node.isFull) return node;
      split(node);
    }
  }

  function split(node: PositionNode): void {
    const { rows, count } = node;
    node.children = [null, null, null, null];
    node.rows = new Float64Array(0);
    for (let row = 0; row < count; row++) {
      const at = row * ROW.width;
      const device = rows[at + ROW.device]!;
      const child = node.childFor(cellOf(latitudeOf[device]!, longitudeOf[device]!));
      moveRow(rows, at, child);
    }
  }

  function moveRow(rows: Float64Array, at: number, to: PositionNode): void {
    const timeMs = rows[at + ROW.time]!;
    const accuracy = rows[at + ROW.accuracy]!;
    const device = rows[at + ROW.device]!;
    to.noteAdded(timeMs, accuracy);
    to.insertRow(timeMs, rows[at + ROW.x]!, rows[at + ROW.y]!, rows[at + ROW.z]!, accuracy, device);
    leafOf[device] = to;
  }

  /** Makes a leaf of a node whose cells hold few. */
  function merge(node: PositionNode): void {
    const leaves: PositionNode[] = [];
    collectLeaves(node, leaves);
    node.children = null;
    node.count = 0;
    node.rows = new Float64Array(0);
    node.forget();
    for (const { rows, count } of leaves)
      for (let row = 0; row < count; row++) moveRow(rows, row * ROW.width, node);
  }

  function takeOut(device: number): void {
    const leaf = leafOf[device]!;
    const timeMs = timeOf[device]!;
    const accuracy = leaf.removeRow(device, timeMs);
    leafOf[device] = undefined;
    let sparse: PositionNode | null = null;
    for (let node: PositionNode | null = leaf; node !== null; node = node.parent) {
      node.noteRemoved(timeMs, accuracy);
      if (node.children !== null && node.isSparse) sparse = node;
      if (node.parent === null && node.count === 0) dropBucket(node);
    }
    if (sparse !== null && sparse.count > 0) merge(sparse);
  }

  return {
    set(device, latitude, longitude, timestampMs, accuracyMeters) {
      if (leafOf[device] !== undefined) takeOut(device);
      const accuracy = Number.isNaN(accuracyMeters) ? NO_ACCURACY : accuracyMeters;
      const leaf = leafFor(cellOf(latitude, longitude));
      for (let node: PositionNode | null = leaf; node !== null; node = node.parent)
        node.noteAdded(timestampMs, accuracy);
      const lat = latitude * RADIANS_PER_DEGREE;
      const lon = longitude * RADIANS_PER_DEGREE;
      const cosLat = Math.cos(lat);
      leaf.insertRow(
        timestampMs,
        cosLat * Math.cos(lon),
        cosLat * Math.sin(lon),
        Math.sin(lat),
        accuracy,
        device,
      );
      leafOf[device] = leaf;
      timeOf[device] = timestampMs;
      latitudeOf[device] = latitude;
      longitudeOf[device] = longitude;
    },
    remove: takeOut,
    find(circle) {
      const { latitude, longitude } = circle;
      return searchPositions({
        circle,
        nodes: touchedBuckets(circle),
        metersOf: (device) => haversineMeters(latitude, longitude, latitudeOf[device]!, longitudeOf[device]!),
        bearingOf: (device) =>
          initialBearingDegrees(latitude, longitude, latitudeOf[device]!, longitudeOf[device]!),
        compareDevices,
      });
    },
  };

  function touchedBuckets({ latitude, longitude, radiusMeters }: CircleQuery): PositionNode[] {
    const found = circleBoxes(latitude, longitude, radiusMeters).map((box) =>
      tree.search({
        minX: box.minLongitude,
        minY: box.minLatitude,
        maxX: box.maxLongitude,
        maxY: box.maxLatitude,
      }),
    );
    // A cell that touches two boxes (at a pole, or one around the world) counts once.
    const touched = found.length === 1 ? found[0]! : [...new Set(found.flat())];
    return touched.map(({ node }) => node);
  }
}

function cellOf(latitude: number, longitude: number): number {
  return geohashCell(latitude, longitude, CELL_BITS_MAX);
}

function collectLeaves(node: PositionNode, leaves: PositionNode[]): void {
  if (node.children === null) leaves.push(node);
  else for (const child of node.children) if (child !== null) collectLeaves(child, leaves);
}
