import { readMagnitudeOrNaN } from "./values.ts";

/** Units of speeds, by the values of `?speed_unit=`. */
export const SPEED_UNITS = ["mps", "kmh", "kn", "mph"] as const;

export type SpeedUnit = (typeof SPEED_UNITS)[number];

/** Exact definitions: the international nautical mile has 1852 m, the mile 1609.344 m. */
const MPS_PER: Readonly<Record<Exclude<SpeedUnit, "mps">, number>> = {
  kmh: 1 / 3.6,
  kn: 0.514444,
  mph: 0.44704,
};

export function parseSpeedUnit(text: string): SpeedUnit | null {
  return SPEED_UNITS.find((unit) => unit === text) ?? null;
}

/** Meters per second; converted values are rounded to 3 decimals. */
export function metersPerSecond(speed: number, unit: SpeedUnit): number {
  return unit === "mps" ? speed : Math.round(speed * MPS_PER[unit] * 1000) / 1000;
}

/** Meters per second of a client's value: null if it is missing or negative (unknown), NaN if it is not a number. */
export function readSpeedOrNaN(value: unknown, unit: SpeedUnit): number | null {
  const speed = readMagnitudeOrNaN(value);
  return speed === null ? null : metersPerSecond(speed, unit);
}
