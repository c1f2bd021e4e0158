/** How distances and speeds are shown. */
export type Units = "metric" | "miles";

export const METERS_PER_MILE = 1609.344;
const METERS_PER_FOOT = 0.3048;
const SECONDS_PER_HOUR = 3600;

/** Where signs along the roads are in miles. */
const REGIONS_OF_MILES: readonly string[] = ["GB", "LR", "MM", "PR", "US"];

/** As people of the language's region are used to, as in `navigator.language`. */
export function unitsOf(language: string): Units {
  const region = new Intl.Locale(language).maximize().region;
  return region !== undefined && REGIONS_OF_MILES.includes(region) ? "miles" : "metric";
}

/** As in "85 m", "1.24 km", "280 ft", "12.5 mi". */
export function distanceText(meters: number, units: Units): string {
  if (units === "metric")
    return meters < 999.5 ? `${Math.round(meters)} m` : `${threeDigits(meters / 1000)} km`;
  const miles = meters / METERS_PER_MILE;
  return miles < 0.1 ? `${Math.round(meters / METERS_PER_FOOT)} ft` : `${threeDigits(miles)} mi`;
}

/** As in "38 km/h", "24 mph". */
export function speedText(metersPerSecond: number, units: Units): string {
  return `${Math.round(metersPerSecond * speedFactor(units))} ${speedUnit(units)}`;
}

/** What meters per second are multiplied by. */
export function speedFactor(units: Units): number {
  return SECONDS_PER_HOUR / (units === "metric" ? 1000 : METERS_PER_MILE);
}

export function speedUnit(units: Units): string {
  return units === "metric" ? "km/h" : "mph";
}

/** Three digits that say something, but all of those before the point. */
function threeDigits(value: number): string {
  return value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

/** Of what is above the sea, as in "12 m", "39 ft". */
export function heightText(meters: number, units: Units): string {
  return `${Math.round(meters * heightFactor(units))} ${heightUnit(units)}`;
}

/** What meters above the sea are multiplied by. */
export function heightFactor(units: Units): number {
  return units === "metric" ? 1 : 1 / METERS_PER_FOOT;
}

export function heightUnit(units: Units): string {
  return units === "metric" ? "m" : "ft";
}
