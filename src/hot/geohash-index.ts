import RBush from "rbush";
import type { Box } from "../geo/box.ts";
import { geohashBox, geohashCell } from "../geo/geohash.ts";
import type { SpatialIndex } from "./spatial-index.ts";

/** 25 bits are geohashes of 5 characters: cells of at most 4.9 km a side. */
const CELL_BITS = 25;

/**
 * Buckets of devices by geohash cell, and an R-tree over the cells that hold any, which changes only when a
 * bucket appears or empties. A circle finds the same few occupied cells in a dense city and in a sparse
 * world, at the poles and across ±180°.
 */
export function createGeohashIndex(): SpatialIndex {
  const buckets = new Map<number, Bucket>();
  const tree = new RBush<Bucket>();
  const bucketOf: (Bucket | undefined)[] = []; // By device number.
  const slotOf: number[] = [];

  function take(device: number, bucket: Bucket): void {
    const slot = slotOf[device]!;
    const last = bucket.devices.length - 1;
    bucket.devices[slot] = bucket.devices[last]!;
    bucket.latitudes[slot] = bucket.latitudes[last]!;
    bucket.longitudes[slot] = bucket.longitudes[last]!;
    slotOf[bucket.devices[slot]!] = slot;
    bucket.devices.pop();
    bucket.latitudes.pop();
    bucket.longitudes.pop();
    bucketOf[device] = undefined;
    if (last > 0) return;
    buckets.delete(bucket.cell);
    tree.remove(bucket);
  }

  function put(device: number, bucket: Bucket, latitude: number, longitude: number): void {
    bucketOf[device] = bucket;
    slotOf[device] = bucket.devices.length;
    bucket.devices.push(device);
    bucket.latitudes.push(latitude);
    bucket.longitudes.push(longitude);
  }

  function bucketFor(cell: number): Bucket {
    const known = buckets.get(cell);
    if (known !== undefined) return known;
    const box = geohashBox(cell, CELL_BITS);
    const bucket: Bucket = {
      cell,
      minX: box.minLongitude,
      minY: box.minLatitude,
      maxX: box.maxLongitude,
      maxY: box.maxLatitude,
      devices: [],
      latitudes: [],
      longitudes: [],
    };
    buckets.set(cell, bucket);
    tree.insert(bucket);
    return bucket;
  }

  return {
    set(device, latitude, longitude) {
      const cell = geohashCell(latitude, longitude, CELL_BITS);
      const bucket = bucketOf[device];
      if (bucket !== undefined && bucket.cell === cell) {
        const slot = slotOf[device]!;
        bucket.latitudes[slot] = latitude;
        bucket.longitudes[slot] = longitude;
        return;
      }
      if (bucket !== undefined) take(device, bucket);
      put(device, bucketFor(cell), latitude, longitude);
    },
    remove(device) {
      take(device, bucketOf[device]!);
    },
    scan(boxes, visit) {
      const found = boxes.map((box) => tree.search(treeBox(box)));
      // A cell that touches two boxes (at a pole, or one cell around the world) is read once.
      const touched = found.length === 1 ? found[0]! : new Set(found.flat());
      let visited = 0;
      for (const { devices, latitudes, longitudes } of touched) {
        for (let slot = 0; slot < devices.length; slot++) {
          visit(devices[slot]!, latitudes[slot]!, longitudes[slot]!);
        }
        visited += devices.length;
      }
      return visited;
    },
  };
}

/** The devices of one cell, in columns, with the cell's box as the R-tree wants it. */
interface Bucket {
  readonly cell: number;
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly devices: number[];
  readonly latitudes: number[];
  readonly longitudes: number[];
}

function treeBox(box: Box) {
  return { minX: box.minLongitude, minY: box.minLatitude, maxX: box.maxLongitude, maxY: box.maxLatitude };
}
