/* Formats distances, speeds, heights, bearings and counts. */

export type Units = "metric" | "miles";

export const METERS_PER_MILE = 1609.344;
const METERS_PER_FOOT = 0.3048;
const SECONDS_PER_HOUR = 3600;

/** Regions whose road signs are in miles. */
const REGIONS_OF_MILES: readonly string[] = ["GB", "LR", "MM", "PR", "US"];

/** The usual units in a language's region. `language` has the form of `navigator.language`. */
export function unitsOf(language: string): Units {
  const region = new Intl.Locale(language).maximize().region;
  return region !== undefined && REGIONS_OF_MILES.includes(region) ? "miles" : "metric";
}

/** `85 m`, `1.24 km`, `280 ft`, `12.5 mi`. */
export function distanceText(meters: number, units: Units): string {
  if (units === "metric")
    return meters < 999.5 ? `${Math.round(meters)} m` : `${threeDigits(meters / 1000)} km`;
  const miles = meters / METERS_PER_MILE;
  return miles < 0.1 ? `${Math.round(meters / METERS_PER_FOOT)} ft` : `${threeDigits(miles)} mi`;
}

/** `38 km/h`, `24 mph`. */
export function speedText(metersPerSecond: number, units: Units): string {
  return `${Math.round(metersPerSecond * speedFactor(units))} ${speedUnit(units)}`;
}

/** The factor from meters per second. */
export function speedFactor(units: Units): number {
  return SECONDS_PER_HOUR / (units === "metric" ? 1000 : METERS_PER_MILE);
}

export function speedUnit(units: Units): string {
  return units === "metric" ? "km/h" : "mph";
}

/** Three significant digits, but all digits before the decimal point. */
function threeDigits(value: number): string {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/** A height above the sea: `12 m`, `39 ft`. */
export function heightText(meters: number, units: Units): string {
  return `${Math.round(meters * heightFactor(units))} ${heightUnit(units)}`;
}

/** The factor from meters above the sea. */
export function heightFactor(units: Units): number {
  return units === "metric" ? 1 : 1 / METERS_PER_FOOT;
}

export function heightUnit(units: Units): string {
  return units === "metric" ? "m" : "ft";
}

const POINTS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"] as const;

/** The compass point nearest to a bearing: `NE`. */
export function compassPoint(degrees: number): string {
  return POINTS[Math.round(degrees / 45) & 7]!;
}

/** `1,234`, whatever the browser's language: the page is in English. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** A count in at most four characters: `950`, `1.2k`, `12k`, `3.4M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  const [value, unit] = count < 999_500 ? [count / 1000, "k"] : [count / 1_000_000, "M"];
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)}${unit}`;
}

/** `1 device`, `1,234 devices`. */
export function counted(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
