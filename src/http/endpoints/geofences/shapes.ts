import { GEOMETRY_TYPES, VERTICES_MAX } from "../../../geofences/parse/geometry.ts";
import {
  DESCRIPTION_CHARACTERS_MAX,
  EXCEPTIONS_MAX,
  EXTENT_METERS_MAX,
  EXTENT_METERS_MIN,
  MINUTES_MAX,
  SECONDS_MAX,
  SUBJECTS_MAX,
  WEEKLY_MAX,
} from "../../../geofences/parse/rules.ts";
import type { FenceFeature } from "../../../geofences/present.ts";
import { WEEKDAYS } from "../../../geofences/schedule.ts";
import { ok } from "../../../lib/result.ts";
import { RULES_DEFAULTS } from "../../../model/watches/watch-rules.ts";
import { CORRECTION_ID_PATTERN } from "../../../service/corrections/correction-id.ts";
import { OVERLAP_MAX } from "../../../service/geofences/room.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import type { PathParameter } from "../../parameters/path-parameter.ts";
import { closed, plain, ref, type Schema, type Schemas } from "../../shapes/shape.ts";
import { PROFILE_MEMBERS } from "../devices/profile-shapes.ts";

/* What the endpoints of geofences and alerts share. */

export const EXAMPLE_FENCE_ID = "01KDTV3GZ8F3M5T7V9X1Z3B5D8";
export const EXAMPLE_ALERT_ID = "01KDTV3GZ8A3M5T7V9X1Z3B5D8";

/** Longer than every fence of 1,000 vertices, with its lists of devices. */
export const BODY_BYTES_MAX = 512 * 1024;

function watchId(noun: string, example: string): PathParameter<string> {
  return {
    description: `The ${noun}.`,
    schema: { type: "string", minLength: 1, pattern: CORRECTION_ID_PATTERN },
    example,
    refusesEmpty: false,
    refusal: null,
    parse: (id) => ok(id),
  };
}

export const geofenceId = watchId("geofence", EXAMPLE_FENCE_ID);
export const alertId = watchId("alert", EXAMPLE_ALERT_ID);

const clock = (description: string): Schema => ({
  type: "string",
  pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
  description,
});

const SCHEDULE = closed(
  {
    timezone: { type: "string", minLength: 1, description: "The zone of its hours, such as Europe/London." },
    weekly: {
      type: "array",
      minItems: 1,
      maxItems: WEEKLY_MAX,
      items: closed({
        days: {
          type: "array",
          minItems: 1,
          maxItems: WEEKDAYS.length,
          items: { type: "string", enum: WEEKDAYS },
        },
        from: clock("When it begins, HH:MM."),
        to: {
          type: "string",
          pattern: "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
          description: "When it ends; on the next day if it is not after `from`.",
        },
      }),
      description: "Hours that repeat each week.",
    },
  },
  {
    except: {
      type: "array",
      maxItems: EXCEPTIONS_MAX,
      items: { type: "string", format: "date" },
      description: "Dates on which no hours begin.",
    },
  },
  "When it is in force; always by default.",
);

function ids(noun: string): Schema {
  return {
    type: "array",
    maxItems: SUBJECTS_MAX,
    items: { type: "string", minLength: 1, maxLength: 128 },
    description: `The ${noun} that it applies to; all by default.`,
  };
}

function whole(minimum: number, maximum: number, description: string, fallback?: number): Schema {
  return {
    type: "integer",
    minimum,
    maximum,
    ...(fallback === undefined ? {} : { default: fallback }),
    description,
  };
}

/** Members that fences and alerts have alike. */
const { icon: _, name, ...lookMembers } = PROFILE_MEMBERS;
export const COMMON_MEMBERS: Schemas = {
  name: { ...name, description: "What people call it." },
  ...lookMembers,
  color: { ...lookMembers.color, description: "Its color on maps, `#rrggbb`." },
  description: {
    type: "string",
    minLength: 1,
    maxLength: DESCRIPTION_CHARACTERS_MAX,
    description: "More about it, for people.",
  },
  active: { type: "boolean", default: true, description: "Whether it makes events." },
  confirm_seconds: whole(0, SECONDS_MAX, "How long fixes must agree before its state changes.", 0),
  confirmations: whole(1, 100, "How many fixes must agree before its state changes.", 1),
  schedule: SCHEDULE,
  devices: ids("devices"),
  users: ids("users"),
};

const { accuracyMetersMax, exitBufferMeters } = RULES_DEFAULTS.fence;

function meters(minimum: number, maximum: number, description: string, fallback?: number): Schema {
  return { ...whole(minimum, maximum, description, fallback), type: "number" };
}

const FENCE_MEMBERS: Schemas = {
  ...COMMON_MEMBERS,
  radius_meters: meters(EXTENT_METERS_MIN, EXTENT_METERS_MAX, "The radius of a circle, which is a Point."),
  buffer_meters: meters(
    EXTENT_METERS_MIN,
    EXTENT_METERS_MAX,
    "How far a corridor, a LineString, reaches to its sides.",
  ),
  accuracy_meters_max: meters(1, 100_000, "Fixes that are less accurate are ignored.", accuracyMetersMax),
  exit_buffer_meters: meters(0, 10_000, "Outside counts only this far beyond the border.", exitBufferMeters),
  dwell_seconds: whole(1, SECONDS_MAX, "Makes one `dwell` event a visit, after this time inside."),
  silence_minutes: whole(
    1,
    MINUTES_MAX,
    "A device that is inside leaves if it does not report for this long.",
  ),
  initial: {
    type: "string",
    enum: ["none", "event"],
    default: "none",
    description: "Whether a device enters that is inside when its state becomes known.",
  },
};

const GEOMETRY: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["type", "coordinates"],
  properties: {
    type: { type: "string", enum: GEOMETRY_TYPES },
    coordinates: {
      type: "array",
      items: {},
      description: [
        "Longitudes and latitudes. An edge is straight in these, the short way round. Rings are closed, wound either",
        `way, and do not cross themselves; they enclose at most half of the earth, with at most ${VERTICES_MAX} vertices.`,
      ].join(" "),
    },
  },
  description: "Where it is. What crosses ±180° may be cut there, as in RFC 7946.",
};

/** The body of a request. */
export const NEW_GEOFENCE_SCHEMA: Schema = {
  ...closed(
    {
      type: { type: "string", enum: ["Feature"] },
      geometry: GEOMETRY,
      properties: closed({}, nullable(FENCE_MEMBERS)),
    },
    {
      id: { description: "Ignored, whatever it is, as the next ones: answers have them." },
      version: {},
      created: {},
      updated: {},
    },
  ),
};

/** Members that may be null, which counts as absent. */
export function nullable(members: Schemas): Schemas {
  return Object.fromEntries(
    Object.entries(members).map(([each, schema]) => [
      each,
      {
        ...schema,
        nullable: true,
        ...("enum" in schema ? { enum: [...(schema.enum as unknown[]), null] } : {}),
      },
    ]),
  );
}

const unixMs = (description: string): Schema => ({ type: "integer", format: "int64", description });

/** What answers say beside the properties. */
export const WATCH_MEMBERS: Schemas = {
  id: { type: "string", description: "Its id." },
  version: {
    type: "integer",
    minimum: 1,
    description: "Rises with each change of its area or its rules, not of its name, color, tags or metadata.",
  },
  created: unixMs("When it was made, Unix milliseconds."),
  updated: unixMs("When it was changed last, Unix milliseconds."),
};

export const GEOFENCE_SCHEMA = closed({
  type: { type: "string", enum: ["Feature"] },
  geometry: GEOMETRY,
  properties: closed({}, FENCE_MEMBERS),
  ...WATCH_MEMBERS,
});

export const geofence = plain<FenceFeature>(ref("schemas", "Geofence"));

export const EXAMPLE_NEW_FENCE = {
  type: "Feature",
  geometry: { type: "Point", coordinates: [-0.1276, 51.5072] },
  properties: { name: "Depot", radius_meters: 150, dwell_seconds: 600, tags: ["london"] },
} as const;

export const EXAMPLE_FENCE: FenceFeature = {
  ...EXAMPLE_NEW_FENCE,
  id: EXAMPLE_FENCE_ID,
  properties: {
    ...{ name: "Depot", tags: ["london"], active: true, confirm_seconds: 0, confirmations: 1 },
    ...{
      accuracy_meters_max: 200,
      exit_buffer_meters: 20,
      initial: "none",
      dwell_seconds: 600,
      radius_meters: 150,
    },
  },
  ...{ version: 1, created: 1_795_200_000_000, updated: 1_795_200_000_000 },
};

export const MISSING_FENCE = failure("The app has no such geofence.", SENT_WITH_DATA, ["PlainError"], {
  fence_not_found: exampleOf({ kind: "fence_not_found" }),
});

export const MISSING_ALERT = failure("The app has no such alert.", SENT_WITH_DATA, ["PlainError"], {
  alert_not_found: exampleOf({ kind: "alert_not_found" }),
});

const message = (sentence: string) => ({ success: false, message: sentence });

/** Answers to bodies that are no fence or no alert, or that the app has no room for. */
export const WATCH_BODY_FAILURES: Readonly<Record<number, Schema>> = {
  400: failure(
    "A parameter or the body is not valid; the message has the path of the member.",
    SENT_WITH_DATA,
    ["PlainError"],
    {
      out_of_bounds: message("properties.radius_meters must be a number, 10 to 100,000"),
      open_ring: message("geometry.coordinates[0] must end with the position that it begins with"),
    },
  ),
  409: failure("The app has no room for it.", SENT_WITH_DATA, ["PlainError"], {
    too_many: exampleOf({ kind: "too_many_watches", what: "100,000 geofences" }),
    crowd: exampleOf({
      ...{
        kind: "fences_overlap",
        name: "Depot",
        latitude: 51.5072,
        longitude: -0.1276,
        countMax: OVERLAP_MAX,
      },
    }),
  }),
  413: failure("The body is too long.", SENT_WITH_DATA, ["PlainError"], {
    too_large: message(`the body must be at most ${BODY_BYTES_MAX / 1024} KiB`),
  }),
  415: failure("The body is of another type.", SENT_WITH_DATA, ["PlainError"], {
    wrong_type: message("content-type must be application/json"),
  }),
};
