import { readNumberOrNaN } from "../../../clients/reading/values.ts";

/** A position in a text. */
export interface Coordinates {
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
}

export const NOWHERE: Coordinates = { latitude: null, longitude: null, altitude: null };

const UNITS_PER_DEGREE = 1e7;
/** Old files have negative values as unsigned numbers of 32 bits. */
const UNSIGNED_RANGE = 2 ** 32;

export function latitudeOfE7(value: unknown): number | null {
  return degreesOfE7(value, 90);
}

export function longitudeOfE7(value: unknown): number | null {
  return degreesOfE7(value, 180);
}

function degreesOfE7(value: unknown, degreesMax: number): number | null {
  const units = readNumberOrNaN(value);
  if (units === null) return null;
  const hasOverflowed = units > degreesMax * UNITS_PER_DEGREE;
  return (hasOverflowed ? units - UNSIGNED_RANGE : units) / UNITS_PER_DEGREE;
}

/** Reads `52.52°, 13.40°`, `52.52,13.40` or `geo:52.52,13.40`, optionally with an altitude. */
export function readCoordinates(value: unknown): Coordinates {
  if (value === undefined || value === null || value === "") return NOWHERE;
  const text = typeof value === "string" ? value : "";
  const [latitude, longitude, altitude] = text.replace(/^\s*geo:|;.*$|°/gs, "").split(",", 3);
  return {
    latitude: readNumberOrNaN(latitude) ?? Number.NaN,
    longitude: readNumberOrNaN(longitude) ?? Number.NaN,
    altitude: readNumberOrNaN(altitude),
  };
}
