import { ok } from "../../lib/result.ts";
import { type LocalDate, parseDate } from "../../time/range.ts";
import { parseZone, type Zone } from "../../time/zone.ts";
import {
  choice,
  flag,
  invalid,
  numberParameter,
  optionalNumber,
  type Parameter,
  requiredNumber,
} from "./parameter.ts";

/** Every query parameter of the specification, §4 and §8, with its bounds and default. */

const limit = numberParameter(
  "integer",
  { description: "Most items to return.", minimum: 1, maximum: 1000 },
  100,
);

const offset = numberParameter("integer", { description: "Items to skip.", minimum: 0 }, 0);

const timezone: Parameter<Zone | null> = {
  description:
    "Adds local_time to each location, and makes dates days of this zone: an IANA name, an offset such as +05:30, or PST, EST, CST, MST, UTC, GMT.",
  required: false,
  schema: { type: "string", minLength: 1 },
  parse(_name, text) {
    if (text === null) return ok(null);
    const zone = parseZone(text);
    return zone === null ? { ok: false, error: { kind: "invalid_timezone", supplied: text } } : ok(zone);
  },
};

function date(description: string): Parameter<LocalDate | null> {
  return {
    description,
    required: false,
    schema: { type: "string", format: "date" },
    parse(name, text) {
      if (text === null) return ok(null);
      const parsed = parseDate(text);
      return parsed === null ? invalid(`${name} must be a date that exists, as YYYY-MM-DD`) : ok(parsed);
    },
  };
}

const dates = {
  start_date: date("First day, YYYY-MM-DD; today where left out."),
  end_date: date("Last day, YYYY-MM-DD; today where left out. At most 366 days in all."),
};

const order = choice("By time, then device: oldest first (asc) or reversed (desc).", ["asc", "desc"], "asc");

const distanceTravelled = flag(
  "Adds the length of the path through the day's positions. Only where start_date equals end_date.",
  "string",
);

const accuracyBounds = {
  description: "Leaves out locations whose horizontal_accuracy, in meters, is greater.",
  minimum: 0,
};

const ageSeconds = "Leaves out locations older than this many seconds.";

export const userCurrentParameters = {
  max_age: optionalNumber("integer", { description: ageSeconds, minimum: 0 }),
  accuracy: optionalNumber("integer", accuracyBounds),
  limit,
  timezone,
};

export const userHistoryParameters = {
  ...dates,
  limit,
  offset,
  timezone,
  distance_travelled: distanceTravelled,
  order,
};

export const userDevicesParameters = {
  active_only: flag("Lists only devices with a location newer than max_age.", "boolean"),
  max_age: numberParameter("integer", { description: "What active means, in seconds.", minimum: 0 }, 86_400),
};

export const deviceCurrentParameters = { timezone };

export const deviceHistoryParameters = {
  ...dates,
  limit,
  offset,
  min_accuracy: optionalNumber("number", { ...accuracyBounds, maximum: 1000 }),
  timezone,
  distance_travelled: distanceTravelled,
  order,
};

/** Any int64: clients write its extremes for "no bound". */
const instant = { minimum: -(2 ** 63), maximum: 2 ** 63 };

export const appCurrentParameters = {
  limit,
  offset,
  timestamp_after: optionalNumber("integer", {
    ...instant,
    description: "Only locations after this, Unix ms.",
  }),
  timestamp_before: optionalNumber("integer", {
    ...instant,
    description: "Only locations before this, Unix ms.",
  }),
  timezone,
};

export const appHistoryParameters = {
  ...dates,
  limit,
  offset,
  min_accuracy: optionalNumber("number", { ...accuracyBounds, maximum: 1000 }),
  timezone,
  order,
};

export const nearbyParameters = {
  latitude: requiredNumber("number", {
    description: "Center, degrees.",
    minimum: -90,
    maximum: 90,
    example: 53.41,
  }),
  longitude: requiredNumber("number", {
    description: "Center, degrees.",
    minimum: -180,
    maximum: 180,
    example: -2.98,
  }),
  radius_miles: numberParameter("number", { description: "Radius in miles.", minimum: 0, maximum: 50 }, 5),
  max_age_hours: numberParameter(
    "number",
    { description: "Leaves out locations older than this.", minimum: 0 },
    24,
  ),
  limit,
  offset,
  min_accuracy: optionalNumber("number", accuracyBounds),
  timezone,
};
