import RBush from "rbush";
import { circleBoxes } from "../../../src/model/geo/box.ts";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import { type Contestant, isWanted, type Match, pageOf } from "./contestant.ts";
import type { PositionColumns } from "./positions.ts";

/** A device in the R-tree: an empty box with the values of the filters. */
interface Leaf {
  readonly minX: number;
  readonly minY: number;
  readonly maxX: number;
  readonly maxY: number;
  readonly device: number;
  readonly timestampMs: number;
  readonly accuracyMeters: number;
}

/** An R-tree of all devices: searches the circle's boxes and measures their devices. A move removes and inserts. */
export function createRbushBoxes({
  latitude,
  longitude,
  timestampMs,
  accuracyMeters,
}: PositionColumns): Contestant {
  const leaves = Array.from(latitude, (_, device) =>
    leafOf(device, latitude[device]!, longitude[device]!, timestampMs[device]!, accuracyMeters[device]!),
  );
  const tree = new RBush<Leaf>().load(leaves);
  return {
    name: "rbush",
    set(device, newLatitude, newLongitude, newTimestampMs, newAccuracyMeters) {
      const leaf = leafOf(device, newLatitude, newLongitude, newTimestampMs, newAccuracyMeters);
      tree.remove(leaves[device]!);
      tree.insert(leaf);
      leaves[device] = leaf;
    },
    find(query) {
      const matches: Match[] = [];
      for (const box of circleBoxes(query.latitude, query.longitude, query.radiusMeters)) {
        const found = tree.search({
          minX: box.minLongitude,
          minY: box.minLatitude,
          maxX: box.maxLongitude,
          maxY: box.maxLatitude,
        });
        for (const leaf of found) {
          if (!isWanted(leaf.timestampMs, leaf.accuracyMeters, query)) continue;
          const meters = haversineMeters(query.latitude, query.longitude, leaf.minY, leaf.minX);
          if (meters <= query.radiusMeters) matches.push({ device: leaf.device, meters });
        }
      }
      return pageOf(matches, query);
    },
  };
}

function leafOf(
  device: number,
  latitude: number,
  longitude: number,
  timestampMs: number,
  accuracyMeters: number,
): Leaf {
  return {
    minX: longitude,
    minY: latitude,
    maxX: longitude,
    maxY: latitude,
    device,
    timestampMs,
    accuracyMeters,
  };
}
