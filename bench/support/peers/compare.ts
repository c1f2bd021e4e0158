import { assert } from "../../../src/lib/assert.ts";

/**
 * Redis stores positions to 0.6 m and uses an earth 0.03 % larger, which is 2.3 m at five miles: devices this close to
 * the edge may be in one answer only.
 */
export const EDGE_METERS = 3;
/** Devices with a smaller difference in distance may come in either order. */
export const ORDER_METERS = 1;

export interface Comparison {
  /** The number of devices in our answer, and of those that both have. */
  readonly devices: number;
  readonly common: number;
}

export interface ComparisonOptions {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  /** The radius, where answers without a full page end. */
  readonly radiusMeters: number;
  readonly page: number;
  /** The distance by our formula, since servers use different ones. */
  distanceMeters(deviceId: string): number;
}

/** Counts the devices in common; throws if the edge does not explain the others, or the order is wrong. */
export function compareAnswers(options: ComparisonOptions): Comparison {
  const { ours, theirs, radiusMeters, page, distanceMeters } = options;
  const isFull = ours.length === page;
  const endMeters = isFull ? distanceMeters(ours.at(-1)!) : radiusMeters;
  const [ourSet, theirSet] = [new Set(ours), new Set(theirs)];
  for (const device of ourSet.symmetricDifference(theirSet)) {
    const metersOff = Math.abs(distanceMeters(device) - endMeters);
    assert(
      metersOff <= EDGE_METERS,
      `${device}, in one answer alone, is ${metersOff} m from where ours ends`,
    );
  }
  assert(theirSet.size === theirs.length, "no device comes twice");
  let lastMeters = 0;
  for (const device of theirs) {
    const meters = distanceMeters(device);
    assert(meters >= lastMeters - ORDER_METERS, `${device} comes after one farther away`);
    lastMeters = Math.max(lastMeters, meters);
  }
  return { devices: ours.length, common: ourSet.intersection(theirSet).size };
}
