import { around } from "geokdbush";
import KDBush from "kdbush";
import { EARTH_RADIUS_METERS, haversineMeters } from "../../../src/model/geo/distance.ts";
import { type Answer, type Contestant, isWanted } from "./contestant.ts";
import type { PositionColumns } from "./positions.ts";

/** The library's earth is slightly smaller than ours. */
const LIBRARY_RADIUS_KM = 6371;

/**
 * The query radius exceeds the circle by this margin, and surplus devices are removed, since rounding differs: near the
 * antipode a haversine is off by some 1e-8 rad.
 */
const MARGIN_RADIANS = 1e-7;
const MARGIN_METERS = MARGIN_RADIANS * EARTH_RADIUS_METERS;

/**
 * A static k-d tree walked nearest first, as its documentation shows: `around` with the radius as bound and the filters
 * as predicate. The total requests all matches. Built once, since it can't be updated.
 */
export function createGeokdbushAround({
  latitude,
  longitude,
  timestampMs,
  accuracyMeters,
}: PositionColumns): Contestant {
  const index = new KDBush(latitude.length);
  for (let device = 0; device < latitude.length; device++) index.add(longitude[device]!, latitude[device]!);
  index.finish();
  return {
    name: "geokdbush",
    find(query): Answer {
      const measure = (device: number) =>
        haversineMeters(query.latitude, query.longitude, latitude[device]!, longitude[device]!);
      const angle = query.radiusMeters / EARTH_RADIUS_METERS + MARGIN_RADIANS;
      // Its bound is a sine, which is wrong beyond half the earth; without a bound it returns all.
      const radiusKm = angle < Math.PI ? angle * LIBRARY_RADIUS_KM : undefined;
      const isKept = (device: number) => isWanted(timestampMs[device]!, accuracyMeters[device]!, query);
      const found = around(index, query.longitude, query.latitude, undefined, radiusKm, isKept);

      const inside = dropBeyond(found, query.radiusMeters, measure);
      const end = query.offset + query.limit;
      const { devices, meters } = inOurOrder(inside, end, measure);
      return {
        count: Math.max(0, Math.min(end, inside.length) - query.offset),
        devices: devices.slice(query.offset, end),
        meters: meters.slice(query.offset, end),
        matches: inside.length,
      };
    },
  };
}

/** Removes devices beyond the circle, which are at the end. */
function dropBeyond(
  found: readonly number[],
  radiusMeters: number,
  measure: (device: number) => number,
): readonly number[] {
  let last = found.length;
  while (last > 0 && measure(found[last - 1]!) > radiusMeters - MARGIN_METERS) last--;
  const edge = found.slice(last).filter((device) => measure(device) <= radiusMeters);
  return edge.length === found.length - last ? found : [...found.slice(0, last), ...edge];
}

/** Sorts the first `end` by our measure: theirs is nearly in order, so each moves a position or two. */
function inOurOrder(found: readonly number[], end: number, measure: (device: number) => number) {
  const devices: number[] = [];
  const meters: number[] = [];
  for (const device of found) {
    const distance = measure(device);
    if (devices.length >= end && distance > meters[end - 1]! + MARGIN_METERS) break;
    let place = devices.length;
    while (
      place > 0 &&
      (meters[place - 1]! > distance || (meters[place - 1] === distance && devices[place - 1]! > device))
    ) {
      devices[place] = devices[place - 1]!;
      meters[place] = meters[place - 1]!;
      place--;
    }
    devices[place] = device;
    meters[place] = distance;
  }
  return { devices, meters };
}
