import { cellToParent, getHexagonEdgeLengthAvg, gridDisk, latLngToCell, UNITS } from "h3-js";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import { type Contestant, isWanted, type Match, pageOf } from "./contestant.ts";
import type { PositionColumns } from "./positions.ts";

/** Edges from 0.5 km to 480 km; a wider circle scans every device. */
const FINEST = 8;
const COARSEST = 1;

/** A disk has 1 + 3k(k + 1) cells. More, smaller cells mean fewer devices and more lookups; 2 to 14 were tried. */
const RINGS_MAX = 4;

/**
 * The distance from the middle cell to the area outside k rings is at least k - 0.35 edges: 0.75 for one ring, 1.9 for
 * two, 4.05 for four, in trials all over the earth and near the twelve pentagons.
 */
const RINGS_LOST = 0.35;

type Buckets = Map<string, number[]>;

/** Devices by hexagonal cell, at several resolutions. A circle reads a disk of cells of a similar size. */
export function createH3Cells(positions: PositionColumns): Contestant {
  const latitude = positions.latitude.slice();
  const longitude = positions.longitude.slice();
  const timestampMs = positions.timestampMs.slice();
  const accuracyMeters = positions.accuracyMeters.slice();
  const levels = Array.from({ length: FINEST - COARSEST + 1 }, (_, level) => createLevel(COARSEST + level));
  const cells = Array.from(latitude, (_, device) =>
    latLngToCell(latitude[device]!, longitude[device]!, FINEST),
  );
  cells.forEach((cell, device) => {
    for (const { resolution, buckets } of levels) put(buckets, cellToParent(cell, resolution), device);
  });
  const everybody = cells.map((_, device) => device);

  return {
    name: "H3",
    set(device, newLatitude, newLongitude, newTimestampMs, newAccuracyMeters) {
      latitude[device] = newLatitude;
      longitude[device] = newLongitude;
      timestampMs[device] = newTimestampMs;
      accuracyMeters[device] = newAccuracyMeters;
      const from = cells[device]!;
      const to = latLngToCell(newLatitude, newLongitude, FINEST);
      if (from === to) return;
      cells[device] = to;
      for (const { resolution, buckets } of levels)
        move(buckets, cellToParent(from, resolution), cellToParent(to, resolution), device);
    },
    find(query) {
      const matches: Match[] = [];
      const level = levels.findLast(
        ({ edgeMeters }) => ringsFor(query.radiusMeters, edgeMeters) <= RINGS_MAX,
      );
      const touched =
        level === undefined
          ? [everybody]
          : gridDisk(
              latLngToCell(query.latitude, query.longitude, level.resolution),
              ringsFor(query.radiusMeters, level.edgeMeters),
            ).map((cell) => level.buckets.get(cell));
      for (const bucket of touched) {
        if (bucket === undefined) continue;
        for (const device of bucket) {
          if (!isWanted(timestampMs[device]!, accuracyMeters[device]!, query)) continue;
          const meters = haversineMeters(
            query.latitude,
            query.longitude,
            latitude[device]!,
            longitude[device]!,
          );
          if (meters <= query.radiusMeters) matches.push({ device, meters });
        }
      }
      return pageOf(matches, query);
    },
  };
}

function createLevel(resolution: number) {
  const buckets: Buckets = new Map();
  return { resolution, edgeMeters: getHexagonEdgeLengthAvg(resolution, UNITS.m), buckets };
}

function ringsFor(radiusMeters: number, edgeMeters: number): number {
  return Math.ceil(radiusMeters / edgeMeters + RINGS_LOST);
}

function put(buckets: Buckets, cell: string, device: number): void {
  const bucket = buckets.get(cell);
  if (bucket === undefined) buckets.set(cell, [device]);
  else bucket.push(device);
}

function move(buckets: Buckets, from: string, to: string, device: number): void {
  if (from === to) return;
  const bucket = buckets.get(from)!;
  const last = bucket.pop()!;
  if (last !== device) bucket[bucket.indexOf(device)] = last;
  put(buckets, to, device);
}
