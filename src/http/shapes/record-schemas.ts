import { COLOR_PATTERN, DEVICE_ICONS, NAME_CHARACTERS_MAX } from "../../model/device-profile.ts";
import { ALWAYS_CHOSEN } from "../../model/field-choice.ts";
import {
  LOCATION_FIELDS,
  type LocationField,
  REPORT_FIELDS,
  type ResponseKind,
} from "../../model/location-fields.ts";
import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";
import { placeRef } from "./place.ts";
import { closed, plain, ref, type Schema, type Schemas, type Shape } from "./shape.ts";

/** Schemas of records in answers and of reports, both derived from the table of fields. */

const RECORD_NAMES: Readonly<Record<ResponseKind, string>> = {
  current: "CurrentRecord",
  deviceCurrent: "DeviceCurrentRecord",
  userHistory: "UserHistoryRecord",
  deviceHistory: "DeviceHistoryRecord",
  appHistory: "AppHistoryRecord",
  view: "ViewRecord",
};

const PARTIAL_RECORD = "PartialRecord";

/** A record of one of these kinds, whole or with the fields that the request chose. */
export function anyRecord(...kinds: readonly ResponseKind[]): Schema {
  const names = [...kinds.map((kind) => RECORD_NAMES[kind]), PARTIAL_RECORD];
  return { anyOf: names.map((name) => ref("schemas", name)) };
}

export function exampleRecord(kind: ResponseKind): Readonly<Record<string, unknown>> {
  return examplesOf(fieldsOf(kind));
}

export const LOCAL_TIME: Schema = {
  type: "string",
  format: "date-time",
  description: "The timestamp in the requested timezone; absent if the request has none.",
  example: "2026-01-26T16:55:12.000+01:00",
};

/** The name of a device, for requests with `names=true`. */
export const DEVICE_NAME: Schema = {
  type: "string",
  minLength: 1,
  maxLength: NAME_CHARACTERS_MAX,
  description: "The name in the device's profile; absent without `names=true`, or if it has none.",
  example: "Bus 42",
};

/** What the map shows of a device's profile, for requests with `profiles=true`. */
export const SHOWN_PROFILE: Schema = closed(
  {},
  {
    name: { type: "string", minLength: 1, maxLength: NAME_CHARACTERS_MAX },
    color: { type: "string", pattern: COLOR_PATTERN.source },
    icon: { type: "string", enum: DEVICE_ICONS },
  },
  "Name, color and icon in the device's profile.",
);

/** Kinds of record that may include the device's name and the place nearby. */
const NEAR_PLACES: readonly ResponseKind[] = ["current", "deviceCurrent", "view"];

export const RECORD_SCHEMAS: Schemas = {
  ...Object.fromEntries(
    (Object.keys(RECORD_NAMES) as ResponseKind[]).map((kind) => [RECORD_NAMES[kind], recordSchema(kind)]),
  ),
  [PARTIAL_RECORD]: partialRecordSchema(),
};

function recordSchema(kind: ResponseKind): Schema {
  const fields = fieldsOf(kind);
  return closed(
    membersOf(fields.filter(isAlwaysShown)),
    {
      ...membersOf(fields.filter((field) => !isAlwaysShown(field))),
      local_time: LOCAL_TIME,
      ...(NEAR_PLACES.includes(kind) ? { name: DEVICE_NAME, place: placeRef } : {}),
    },
    "A position with the values of its report; values that the report lacked are absent.",
  );
}

function partialRecordSchema(): Schema {
  const fields: readonly LocationField[] = LOCATION_FIELDS;
  const isAlwaysChosen = ({ name }: LocationField) => ALWAYS_CHOSEN.includes(name);
  return closed(
    membersOf(fields.filter(isAlwaysChosen)),
    {
      ...membersOf(fields.filter((field) => !isAlwaysChosen(field))),
      local_time: LOCAL_TIME,
      name: DEVICE_NAME,
      place: placeRef,
    },
    "The fields of a position that the request chose with `fields`; values that the report lacked are absent.",
  );
}

const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
const ACCEPTED_TIMES = "Not older than the retention, and at most 10 minutes in the future.";

/** The report of `POST /ingest/v1/locations`. Not closed: unknown members are allowed. */
const REPORT_SCHEMA: Schema = {
  type: "object",
  description: "One position of one device. Unknown members are ignored, and null counts as absent.",
  required: REPORT_FIELDS.filter((field) => field.required).map((field) => field.name),
  properties: Object.fromEntries(REPORT_FIELDS.map((field) => [field.name, reportMember(field)])),
};

export const REPORT_SCHEMAS: Schemas = {
  LocationReport: REPORT_SCHEMA,
  LocationReports: {
    type: "object",
    required: ["locations"],
    properties: {
      locations: { type: "array", maxItems: BATCH_REPORTS_MAX, items: ref("schemas", "LocationReport") },
    },
  },
};

export const EXAMPLE_REPORT = examplesOf(REPORT_FIELDS);

function reportMember(field: LocationField): Schema {
  const schema = fieldSchema(field);
  const patterned = field.type === "string" && field.pattern === undefined;
  return {
    ...schema,
    ...(patterned ? { pattern: NO_CONTROL_CHARACTERS } : {}),
    ...(field.refused === undefined ? {} : { not: { enum: field.refused } }),
    ...(field.required ? {} : { nullable: true }),
    ...(field.column === "timestamp" ? { description: `${field.description} ${ACCEPTED_TIMES}` } : {}),
  };
}

function fieldsOf(kind: ResponseKind): readonly LocationField[] {
  return LOCATION_FIELDS.filter((field: LocationField) => field.responses.includes(kind));
}

/** Derived fields follow from required ones, and a report without a user belongs to `ANONYMOUS`. */
function isAlwaysShown(field: LocationField): boolean {
  return field.required === true || field.column === "derived" || field.name === "user_id";
}

function membersOf(fields: readonly LocationField[]): Schemas {
  return Object.fromEntries(fields.map((field) => [field.name, fieldSchema(field)]));
}

export function fieldSchema(field: LocationField): Schema {
  const { type, minimum, maximum, charactersMin = 0, charactersMax, pattern, description, example } = field;
  return {
    type,
    ...(type === "integer" ? { format: "int64" } : {}),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
    ...(charactersMin === 0 ? {} : { minLength: charactersMin }),
    ...(charactersMax === undefined ? {} : { maxLength: charactersMax }),
    ...(pattern === undefined ? {} : { pattern: pattern.source }),
    description,
    example,
  };
}

type FieldName = (typeof LOCATION_FIELDS)[number]["name"];
type TypeOf<Name> = Extract<(typeof LOCATION_FIELDS)[number], { readonly name: Name }>["type"];

/** A field as a member of an object other than a record. */
export function field<Name extends FieldName>(
  name: Name,
): Shape<TypeOf<Name> extends "string" ? string : TypeOf<Name> extends "boolean" ? boolean : number> {
  return plain(fieldSchema(LOCATION_FIELDS.find((each) => each.name === name)!));
}

function examplesOf(fields: readonly LocationField[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(fields.map((field) => [field.name, field.example]));
}
