import { type Bounds, boundsOf } from "../geo/bounds.ts";
import { metersBetween, type Position } from "../geo/earth.ts";
import { counted, countText, distanceText, type Units } from "../geo/units.ts";

/* The answer of `POST /api/v1/imports`, in sentences. */

export interface ImportAnswer {
  readonly dry_run: boolean;
  readonly format: string;
  readonly recognized_by: string;
  /** Why and where reading ended early. */
  readonly fault?: string;
  readonly usable: number;
  readonly skipped: number;
  readonly new?: number;
  /** Absent if the archive can't be read. */
  readonly already_there?: number;
  readonly same_time?: number;
  readonly skips: readonly SkipAnswer[];
  readonly remarks: readonly { readonly message: string; readonly count: number }[];
  readonly left_out: readonly { readonly field: string; readonly count: number }[];
  readonly devices: readonly string[];
  readonly has_more_devices: boolean;
  readonly first?: number;
  readonly last?: number;
  /** The way of the positions, simplified, in a preview alone. */
  readonly lines?: readonly (readonly Position[])[];
}

interface SkipAnswer {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly places: readonly string[];
}

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  gpx: "GPX",
  kml: "KML",
  geojson: "GeoJSON",
  geojsonseq: "GeoJSON by lines",
};

/** The reason of points before the retention, which refuse the file unless they are left out. */
const TOO_OLD = "too_old";

/** `GPX`, `GeoJSON by lines`. */
export function formatName({ format }: ImportAnswer): string {
  return FORMAT_NAMES[format] ?? format;
}

export function positionsText({ usable, skipped }: ImportAnswer): string {
  return skipped === 0 ? countText(usable) : `${countText(usable)} of ${countText(usable + skipped)}`;
}

/** How many positions are before the retention. */
export function tooOldCount({ skips }: ImportAnswer): number {
  return skips.find(({ reason }) => reason === TOO_OLD)?.count ?? 0;
}

/** The things that can't be imported, and why: `3 without time (line 12, line 15, line 18)`. */
export function leftOutTexts({ skips, left_out }: ImportAnswer): readonly string[] {
  return [
    ...skips.map(({ count, message, places }) => {
      const more = count > places.length && places.length > 0 ? ", …" : "";
      return `${countText(count)} ${message}${places.length === 0 ? "" : ` (${places.join(", ")}${more})`}`;
    }),
    ...left_out.map(
      ({ field, count }) =>
        `${field.replaceAll("_", " ")} of ${counted(count, "position")}, which is out of bounds or unreadable`,
    ),
  ];
}

/** Changes that the reader made to positions that are imported. */
export function remarkTexts({ remarks }: ImportAnswer): readonly string[] {
  return remarks.map(({ count, message }) => `${countText(count)} ${message}`);
}

/** What a preview says about records that exist; null if there are none. */
export function conflictText({ usable, already_there }: ImportAnswer): string | null {
  if (already_there === undefined) return "The archive can't be read now, so it is unknown which are there.";
  if (already_there === 0) return null;
  if (already_there === usable && usable === 1) return "It is there already.";
  if (already_there === usable) return "All of them are there already.";
  return `${countText(already_there)} have a time that is there already, or twice in the file.`;
}

/** What an import did, for people. */
export function resultTexts(answer: ImportAnswer): readonly string[] {
  const { already_there = 0, same_time = 0, skipped } = answer;
  const created = answer.new ?? 0;
  return [
    `${counted(created, "new position")} of ${devicesText(answer)}.`,
    ...(already_there === 0 ? [] : [`${isAre(already_there)} there already.`]),
    ...(same_time === 0
      ? []
      : [`${countText(same_time)} had the time of an existing record: the better position was kept.`]),
    ...(skipped === 0 ? [] : [`${isAre(skipped)} left out.`]),
  ];
}

function isAre(count: number): string {
  return `${countText(count)} ${count === 1 ? "was" : "were"}`;
}

/** `bike`, `a, b and 7 more`. */
export function devicesText({
  devices,
  has_more_devices,
}: Pick<ImportAnswer, "devices" | "has_more_devices">): string {
  if (devices.length === 0) return "no device";
  if (devices.length <= 3 && !has_more_devices) return devices.join(", ");
  const others = devices.length - 2;
  return `${devices.slice(0, 2).join(", ")} and ${has_more_devices ? `more than ${countText(others)}` : countText(others)} more`;
}

/** The area of the lines; null if there are none. */
export function boundsOfLines({ lines = [] }: ImportAnswer): Bounds | null {
  const positions = lines.flat();
  return boundsOf(
    positions.map(([, latitude]) => latitude),
    positions.map(([longitude]) => longitude),
  );
}

/** The size of the area, as a check for users without a map: `2.31 km by 850 m`. */
export function areaText(bounds: Bounds, units: Units): string {
  const { west, south, east, north } = bounds;
  const middle = (south + north) / 2;
  const width = metersBetween(middle, west, middle, east);
  const height = metersBetween(south, west, north, west);
  return `${distanceText(width, units)} by ${distanceText(height, units)}`;
}
