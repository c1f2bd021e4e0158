import type { HeldCorrection } from "../../../hot/hidden/held-correction.ts";
import { ok } from "../../../lib/result.ts";
import {
  CORRECTION_ACTIONS,
  CORRECTION_NOTE_CHARACTERS_MAX,
  type CorrectionTarget,
} from "../../../model/correction.ts";
import type { DeviceId } from "../../../model/ids.ts";
import { CORRECTION_ID_PATTERN } from "../../../service/corrections/correction-id.ts";
import { TIMESTAMPS_MAX } from "../../../service/corrections/new-correction.ts";
import { exampleOf, failure, SENT_WITH_DATA } from "../../openapi/responses.ts";
import type { PathParameter } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT, field } from "../../shapes/record-schemas.ts";
import {
  closed,
  count,
  instant,
  object,
  optional,
  plain,
  type Schema,
  type Schemas,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";

/* What the endpoints of corrections share. */

const timestamp: Schema = {
  type: "integer",
  format: "int64",
  minimum: 0,
  maximum: 8_640_000_000_000_000,
  description: "Unix milliseconds.",
};

function degrees(most: number): Schema {
  return { type: "number", minimum: -most, maximum: most, description: "Degrees." };
}

const SELECTION: Schemas = {
  start: { ...timestamp, description: "The first instant, Unix milliseconds." },
  end: {
    ...timestamp,
    description: "The instant after the last, Unix milliseconds; at most 366 days later.",
  },
  bbox: {
    type: "array",
    minItems: 4,
    maxItems: 4,
    items: { type: "number", minimum: -180, maximum: 180 },
    description: "Only positions in this box: west, south, east, north, in degrees.",
  },
  circle: closed(
    {
      latitude: degrees(90),
      longitude: degrees(180),
      radius_meters: { type: "number", minimum: 0, maximum: 20_100_000, description: "Meters." },
    },
    {},
    "Only positions in this circle.",
  ),
  accuracy_above: {
    type: "number",
    minimum: 0,
    maximum: 10_000_000,
    description: "Only positions whose horizontal accuracy is greater, in meters.",
  },
};

/** What corrections set. */
const TARGET: Schemas = {
  latitude: { ...degrees(90), description: "For `move`, the latitude of the record." },
  longitude: { ...degrees(180), description: "For `move`, the longitude of the record." },
  horizontal_accuracy: {
    type: "number",
    minimum: 0,
    maximum: 10_000_000,
    description: "For `move`, the horizontal accuracy of the record, in meters; otherwise it stays.",
  },
  by_ms: {
    type: "integer",
    format: "int64",
    description: "For `shift_time`, what is added to the times, in milliseconds; not 0.",
  },
  to_device_id: {
    type: "string",
    minLength: 1,
    maxLength: 128,
    description: "For `assign`, the device that gets the records. It may be one that never reported.",
  },
  to_user_id: {
    type: "string",
    minLength: 1,
    maxLength: 128,
    description: "For `assign`, the user who gets the records.",
  },
};

const noteSchema: Schema = {
  type: "string",
  maxLength: CORRECTION_NOTE_CHARACTERS_MAX,
  description: "Why, for other people.",
};

/** The body of a request. */
export const NEW_CORRECTION_SCHEMA = closed(
  {
    action: {
      type: "string",
      enum: CORRECTION_ACTIONS,
      description:
        "`hide`: no answer shows the records. `move`: one has another position. `shift_time`: they have other times. `assign`: they are another device's or user's.",
    },
    device_id: { type: "string", minLength: 1, maxLength: 128, description: "The device." },
  },
  {
    timestamps: {
      type: "array",
      minItems: 1,
      maxItems: TIMESTAMPS_MAX,
      items: timestamp,
      description:
        "The times of the records. Otherwise `start` and `end` are required; `assign` without them is of all records.",
    },
    ...SELECTION,
    ...TARGET,
    note: noteSchema,
  },
);

function selected<Value>(name: string) {
  return optional(plain<Value>({ ...SELECTION, ...TARGET }[name] as Schema));
}

const members = {
  action: plain<string>({ type: "string", enum: CORRECTION_ACTIONS, description: "What it does." }),
  device_id: field("device_id"),
  start: selected<unknown>("start"),
  end: selected<unknown>("end"),
  bbox: selected<unknown>("bbox"),
  circle: selected<unknown>("circle"),
  accuracy_above: selected<unknown>("accuracy_above"),
  latitude: selected<number>("latitude"),
  longitude: selected<number>("longitude"),
  horizontal_accuracy: selected<number>("horizontal_accuracy"),
  by_ms: selected<number>("by_ms"),
  to_device_id: selected<string>("to_device_id"),
  to_user_id: selected<string>("to_user_id"),
  note: optional(plain<string>(noteSchema)),
  records: count("Records that it touches."),
};

export const correctionShape = object(
  {
    id: text("Its id. Later corrections have greater ids."),
    ...members,
    first: instant("Time of the first record, Unix milliseconds."),
    last: instant("Time of the last record, Unix milliseconds."),
    created: instant("When it was made, Unix milliseconds."),
    created_by: text("Id of the key that made it."),
    state: plain<"active" | "undone">({
      type: "string",
      enum: ["active", "undone"],
      description: "Whether it is in effect.",
    }),
  },
  "A correction.",
);

export const previewShape = object(
  {
    ...members,
    first: optional(instant("Time of the first record, Unix milliseconds.")),
    last: optional(instant("Time of the last record, Unix milliseconds.")),
  },
  "A correction that was not made.",
);

export function presentCorrection({ correction, isActive }: HeldCorrection): ValueOf<typeof correctionShape> {
  const { id, action, deviceId, selection, target, note, records, firstMs, lastMs } = correction;
  return {
    id,
    action,
    device_id: deviceId,
    ...selection,
    ...presentTarget(deviceId, target),
    ...(note === null ? {} : { note }),
    records,
    first: firstMs,
    last: lastMs,
    created: correction.createdMs,
    created_by: correction.createdBy,
    state: isActive ? "active" : "undone",
  };
}

/** What a correction sets, in the words of a request. */
export function presentTarget(deviceId: DeviceId, target: CorrectionTarget | null) {
  if (target === null) return {};
  const { byMs, position, userId } = target;
  return {
    ...(position === null ? {} : { latitude: position.latitude, longitude: position.longitude }),
    ...(position === null || position.accuracyMeters === null
      ? {}
      : { horizontal_accuracy: position.accuracyMeters }),
    ...(byMs === 0 ? {} : { by_ms: byMs }),
    ...(target.deviceId === deviceId ? {} : { to_device_id: target.deviceId }),
    ...(userId === null ? {} : { to_user_id: userId }),
  };
}

export const EXAMPLE_CORRECTION_ID = "01KDTV3GZ8Q3M5T7V9X1Z3B5D7";

const HOUR_MS = 3_600_000;

export const EXAMPLE_NEW_CORRECTION = {
  action: "hide",
  device_id: EXAMPLE_REPORT.device_id,
  start: Number(EXAMPLE_REPORT.timestamp) - HOUR_MS,
  end: Number(EXAMPLE_REPORT.timestamp) + HOUR_MS,
  accuracy_above: 500,
  note: "tunnel",
} as const;

export const EXAMPLE_CORRECTION = {
  id: EXAMPLE_CORRECTION_ID,
  ...EXAMPLE_NEW_CORRECTION,
  records: 12,
  first: Number(EXAMPLE_REPORT.timestamp) - 60_000,
  last: Number(EXAMPLE_REPORT.timestamp),
  created: Number(EXAMPLE_REPORT.timestamp) + HOUR_MS,
  created_by: "key_7Hq2",
  state: "active",
} as const;

export const correctionId: PathParameter<string> = {
  description: "The correction.",
  schema: { type: "string", minLength: 1, pattern: CORRECTION_ID_PATTERN },
  example: EXAMPLE_CORRECTION_ID,
  refusesEmpty: false,
  refusal: null,
  parse: (id) => ok(id),
};

export const MISSING_CORRECTION = failure(
  "The app has no such correction, or there is nothing at this path.",
  SENT_WITH_DATA,
  ["PlainError"],
  {
    unknown_correction: exampleOf({ kind: "correction_not_found" }),
    no_such_path: exampleOf({ kind: "no_such_path" }),
  },
);
