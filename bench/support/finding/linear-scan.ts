import { haversineMeters } from "../../../src/model/geo/distance.ts";
import { type Contestant, isWanted, type Match, pageOf } from "./contestant.ts";
import type { PositionColumns } from "./positions.ts";

/** Measures every device without an index; the reference for the other answers. */
export function createLinearScan(positions: PositionColumns): Contestant {
  const latitude = positions.latitude.slice();
  const longitude = positions.longitude.slice();
  const timestampMs = positions.timestampMs.slice();
  const accuracyMeters = positions.accuracyMeters.slice();
  return {
    name: "linear scan",
    set(device, newLatitude, newLongitude, newTimestampMs, newAccuracyMeters) {
      latitude[device] = newLatitude;
      longitude[device] = newLongitude;
      timestampMs[device] = newTimestampMs;
      accuracyMeters[device] = newAccuracyMeters;
    },
    find(query) {
      const matches: Match[] = [];
      for (let device = 0; device < latitude.length; device++) {
        if (!isWanted(timestampMs[device]!, accuracyMeters[device]!, query)) continue;
        const meters = haversineMeters(
          query.latitude,
          query.longitude,
          latitude[device]!,
          longitude[device]!,
        );
        if (meters <= query.radiusMeters) matches.push({ device, meters });
      }
      return pageOf(matches, query);
    },
  };
}
