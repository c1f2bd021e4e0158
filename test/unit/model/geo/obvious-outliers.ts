import type { OutlierReason, OutlierRule } from "../../../../src/model/geo/outliers.ts";
import { metersBetween, unitVector } from "../../../../src/model/geo/unit-vector.ts";

export interface Position {
  readonly timestampMs: number;
  readonly latitude: number;
  readonly longitude: number;
  /** Meters; NaN if the record has none. */
  readonly accuracy: number;
}

export interface ObviousOutlier {
  readonly position: Position;
  readonly reason: OutlierReason;
  readonly speed: number | null;
}

export interface ObviousOutliers {
  /** All of them, oldest first. */
  readonly outliers: readonly ObviousOutlier[];
  /** The speed at each position with two neighbors. */
  readonly speeds: readonly number[];
}

/** The rule of outliers as `docs/maps.md` has it, word by word, over all positions at once. */
export function obviousOutliers(
  positions: readonly Position[],
  { speedMax, accuracyMetersMax }: OutlierRule,
): ObviousOutliers {
  const outliers: ObviousOutlier[] = [];
  const isZero = (at: Position) => at.latitude === 0 && at.longitude === 0;
  const isInaccurate = (at: Position) => accuracyMetersMax !== null && at.accuracy > accuracyMetersMax;
  for (const position of positions.slice(0, -1)) {
    if (isZero(position)) outliers.push({ position, reason: "zero_position", speed: null });
    else if (isInaccurate(position)) outliers.push({ position, reason: "inaccurate", speed: null });
  }

  let rest = positions.filter((position) => !isZero(position) && !isInaccurate(position));
  const speeds: number[] = [];
  for (let i = 1; i + 1 < rest.length; ) {
    const [before, at, after] = [rest[i - 1]!, rest[i]!, rest[i + 1]!];
    const slower = Math.min(speedOf(before, at), speedOf(at, after));
    speeds.push(Math.min(slower, speedOf(before, after)));
    if (slower > speedMax && speedOf(before, after) <= speedMax) {
      outliers.push({ position: at, reason: "jump", speed: slower });
      rest = rest.filter((other) => other !== at);
    } else i++;
  }
  outliers.sort((a, b) => a.position.timestampMs - b.position.timestampMs);
  return { outliers, speeds };
}

/** Meters per second along the great circle. */
export function speedOf(a: Position, b: Position): number {
  const meters = metersBetween(unitVector(a.latitude, a.longitude), unitVector(b.latitude, b.longitude));
  return (meters * 1000) / (b.timestampMs - a.timestampMs);
}

/** The least speed that 99 % of all speeds don't exceed; 0 if there are none. */
export function percentile99(speeds: readonly number[]): number {
  return speeds.toSorted((a, b) => a - b)[Math.ceil(0.99 * speeds.length) - 1] ?? 0;
}
