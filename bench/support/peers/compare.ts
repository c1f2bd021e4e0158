import { assert } from "../../../src/lib/assert.ts";

/**
 * Redis keeps positions to 0.6 m and takes the earth for 0.03 % larger, which is 2.3 m at five miles: devices this
 * close to where the answer ends may be in one answer and not in the other.
 */
export const EDGE_METERS = 3;
/** Devices whose distances differ by less may come in either order. */
export const ORDER_METERS = 1;

export interface Comparison {
  /** Devices of our answer, and those of them that theirs has too. */
  readonly devices: number;
  readonly common: number;
}

export interface ComparisonOptions {
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
  /** Where answers end that are no full page. */
  readonly radiusMeters: number;
  readonly page: number;
  /** By our formula, for theirs too: each server has its own. */
  distanceMeters(deviceId: string): number;
}

/** Counts the devices in common; throws where the others are not explained by the edge, or the order is wrong. */
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
