import { ok, type Result } from "../../lib/result.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import type { ServiceError } from "../../model/errors.ts";
import { BoundingBox } from "../../model/geo/bounding-box.ts";
import { type LocalDate, parseDate } from "../../model/time/range.ts";
import { parseZone, type Zone } from "../../model/time/zone.ts";
import { choice, flag, numberParameter, optionalNumber } from "./kinds.ts";
import { invalid, type Parameter } from "./parameter.ts";

/** Query parameters that several endpoints share, with their bounds and defaults: §4 and §8 of the specification. */

export const limit = numberParameter(
  "integer",
  { description: "Maximum number of items.", minimum: 1, maximum: 1000 },
  100,
);

export const offset = numberParameter("integer", { description: "Items to skip.", minimum: 0 }, 0);

/** The form of all zone names; not every match is a zone. */
const ZONE_PATTERN =
  "^([A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*|[+-](0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)$";

export const timezone: Parameter<Zone | null> = {
  description: [
    "Adds local_time to each location and makes dates days of this zone: an IANA name, an offset such as +05:30,",
    "or PST, EST, CST, MST, UTC, GMT.",
  ].join(" "),
  required: false,
  schema: { type: "string", minLength: 1, pattern: ZONE_PATTERN },
  parse(_name, text) {
    if (text === null) return ok(null);
    const zone = parseZone(text);
    return zone === null ? { ok: false, error: { kind: "invalid_timezone", supplied: text } } : ok(zone);
  },
};

export function date(description: string): Parameter<LocalDate | null> {
  return {
    description,
    required: false,
    schema: { type: "string", format: "date" },
    parse(name, text) {
      if (text === null) return ok(null);
      const parsed = parseDate(text);
      return parsed === null ? invalid(`${name} must be an existing date, as YYYY-MM-DD`) : ok(parsed);
    },
  };
}

export const dates = {
  start_date: date("First day, YYYY-MM-DD. Defaults to today."),
  end_date: date("Last day, YYYY-MM-DD. Defaults to today. At most 366 days in all."),
};

export const order = choice(
  "By time, then device: oldest first (asc) or reversed (desc).",
  ["asc", "desc"],
  "asc",
);

/** Adds names of places. Each endpoint implements it. */
export const places = flag(
  "Adds place to each location: the nearest city, town or village of GeoNames, with its distance and bearing.",
  "boolean",
);

/** Adds names of devices. Each endpoint implements it. */
export const names = flag("Adds name to each location whose device has one in its profile.", "boolean");

/** For maps. Each endpoint implements it. */
export const profiles = flag(
  "Adds profile to each location whose device has one with a name, a color or an icon, with these three.",
  "boolean",
);

export const distanceTravelled = flag(
  "Adds the length of the path through the day's positions. Requires that start_date equals end_date.",
  "string",
);

export const accuracyBounds = {
  description: "Omits locations whose horizontal_accuracy, in meters, is greater.",
  minimum: 0,
};

export const accuracyMeters = optionalNumber("number", accuracyBounds);
export const accuracyMetersTo1000 = optionalNumber("number", { ...accuracyBounds, maximum: 1000 });

export const HISTORY_PAGING = [
  "Ordered by timestamp, then device_id. Paging through a range returns every record once, unless a report for the range",
  "arrives in between.",
].join(" ");

/** The requested part of the map; null for all of it. */
export function bbox(description: string): Parameter<BoundingBox | null> {
  return {
    description: [
      description,
      "Degrees as west,south,east,north, edges included; west greater than east crosses ±180°.",
      "Defaults to the whole world.",
    ].join(" "),
    required: false,
    schema: { type: "string", pattern: BBOX_PATTERN },
    parse: (name, text) => (text === null ? ok(null) : parseBox(name, text)),
  };
}

const BBOX_PATTERN = "^-?[0-9]+(\\.[0-9]+)?(,-?[0-9]+(\\.[0-9]+)?){3}$";

function parseBox(name: string, text: string): Result<BoundingBox, ServiceError> {
  const edges = text.split(",", 5).map((edge) => parsePlainDecimal(edge) + 0); // -0 is 0.
  if (edges.length !== 4 || edges.some(Number.isNaN))
    return invalid(`${name} must be west,south,east,north: four numbers in plain decimals`);
  const [west, south, east, north] = edges as [number, number, number, number];
  if (Math.max(Math.abs(west), Math.abs(east)) > 180)
    return invalid(`${name} must have west and east between -180 and 180`);
  if (Math.max(Math.abs(south), Math.abs(north)) > 90)
    return invalid(`${name} must have south and north between -90 and 90`);
  if (south > north) return invalid(`${name} must not have south above north`);
  return ok(new BoundingBox(west, south, east, north));
}
