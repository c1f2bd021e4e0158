import { assert } from "../lib/assert.ts";

/**
 * The table of a location record's fields. Request checks, memory and log columns, responses and OpenAPI all derive
 * from it. A new field is a new line anywhere in the table, with the next free column number.
 *
 * Sources: the interface specification, §2.1 and §4, and the contract, §1 ("Which fields which response carries") and
 * §4 (accepted values).
 */

/**
 * The kinds of response that carry records, each with its own set of fields. A share link shows the fields of `view`;
 * one that blurs shows only the required ones among them.
 */
export type ResponseKind =
  | "current"
  | "deviceCurrent"
  | "userHistory"
  | "deviceHistory"
  | "appHistory"
  | "view";

/**
 * Where a field is stored. `number` fields are columns of doubles. `profile` (the device and its owner) and `state`
 * (what it was doing) fields are texts in two interned tuples, because few combinations occur. `derived` fields follow
 * from app, device and timestamp, and are never sent or stored.
 */
export type FieldColumn = "device" | "timestamp" | "number" | "profile" | "state" | "derived";

interface FieldTraits {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean";
  readonly required?: boolean;
  /** Bounds of a number, both included, in the field's unit. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Bounds of a text, in characters (code points). */
  readonly charactersMin?: number;
  readonly charactersMax?: number;
  readonly pattern?: RegExp;
  readonly refused?: readonly string[];
  readonly description: string;
  readonly example: string | number | boolean;
  readonly responses: readonly ResponseKind[];
  /** Whether it describes the fix: all such fields of a record come from a single fix (`fix.ts`). */
  readonly isOfFix?: true;
}

export interface StoredField extends FieldTraits {
  readonly column: Exclude<FieldColumn, "derived">;
  /**
   * The field's permanent name on disk, in log entries, archive files and hashes, wherever its line is in the table.
   */
  readonly columnNumber: number;
}

export interface DerivedField extends FieldTraits {
  readonly column: "derived";
}

export type LocationField = StoredField | DerivedField;

/** Numbers of removed fields. They are never used again: old files may still contain them. */
export const RETIRED_COLUMN_NUMBERS: readonly number[] = [];
/** One byte names a column in the log; 0 names none. */
const COLUMN_NUMBER_MAX = 255;

const EVERY: readonly ResponseKind[] = [
  "current",
  "deviceCurrent",
  "userHistory",
  "deviceHistory",
  "appHistory",
];
const EVERY_AND_VIEW: readonly ResponseKind[] = [...EVERY, "view"];
const CURRENT: readonly ResponseKind[] = ["current", "deviceCurrent"];
const HISTORY: readonly ResponseKind[] = ["userHistory", "deviceHistory", "appHistory"];
const ALL_BUT_APP_HISTORY: readonly ResponseKind[] = [...CURRENT, "userHistory", "deviceHistory"];
const OWN_HISTORY: readonly ResponseKind[] = ["userHistory", "deviceHistory"];
const DEVICE_HISTORY: readonly ResponseKind[] = ["deviceHistory"];

const OPEN_TEXT = { type: "string", charactersMin: 0, charactersMax: 128 } as const;
/** Ids are path segments, where these two mean other paths, percent-encoded or not (WHATWG URL, "dot segments"). */
const IDENTIFIER = { type: "string", charactersMin: 1, charactersMax: 128, refused: [".", ".."] } as const;

export const LOCATION_FIELDS = [
  {
    ...IDENTIFIER,
    name: "device_id",
    column: "device",
    columnNumber: 1,
    required: true,
    description: "Device identifier, unique within an app.",
    example: "bus-4836",
    responses: EVERY_AND_VIEW,
  },
  {
    name: "app_id",
    type: "string",
    column: "derived",
    description: "Application that owns the device.",
    example: "default",
    responses: CURRENT,
  },
  {
    name: "appId",
    type: "string",
    column: "derived",
    description: "Application that owns the device.",
    example: "default",
    responses: HISTORY,
  },
  {
    name: "id",
    type: "string",
    column: "derived",
    description: "Record identifier: a ULID of 26 characters that never changes.",
    example: "01KFX6A7J0M4Q8ZV2N5T9B3C1D",
    responses: ["deviceCurrent", ...HISTORY],
  },
  {
    ...IDENTIFIER,
    name: "user_id",
    column: "profile",
    columnNumber: 2,
    description: "User who had the device at that time; ANONYMOUS if the report has no user_id.",
    example: "driver-7",
    responses: EVERY,
  },
  {
    name: "timestamp",
    type: "integer",
    column: "timestamp",
    columnNumber: 3,
    required: true,
    description: "Time of the fix, Unix milliseconds.",
    example: 1769442912000,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "latitude",
    type: "number",
    column: "number",
    columnNumber: 4,
    isOfFix: true,
    required: true,
    minimum: -90,
    maximum: 90,
    description: "Degrees, WGS84.",
    example: 53.447185,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "longitude",
    type: "number",
    column: "number",
    columnNumber: 5,
    isOfFix: true,
    required: true,
    minimum: -180,
    maximum: 180,
    description: "Degrees, WGS84.",
    example: -2.91799,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "horizontal_accuracy",
    type: "number",
    column: "number",
    columnNumber: 6,
    isOfFix: true,
    minimum: 0,
    maximum: 10_000_000,
    description: "Horizontal accuracy, meters.",
    example: 4.8,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "vertical_accuracy",
    type: "number",
    column: "number",
    columnNumber: 7,
    isOfFix: true,
    minimum: 0,
    maximum: 10_000_000,
    description: "Vertical accuracy, meters.",
    example: 3,
    responses: ALL_BUT_APP_HISTORY,
  },
  {
    name: "altitude",
    type: "number",
    column: "number",
    columnNumber: 8,
    isOfFix: true,
    minimum: -20_000,
    maximum: 100_000_000,
    description: "Altitude, meters.",
    example: 19.5,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "speed",
    type: "number",
    column: "number",
    columnNumber: 9,
    isOfFix: true,
    minimum: 0,
    maximum: 1_000_000,
    description: "Speed, meters per second.",
    example: 8.3,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "bearing",
    type: "number",
    column: "number",
    columnNumber: 10,
    isOfFix: true,
    minimum: 0,
    maximum: 360,
    description: "Heading, degrees clockwise from true north.",
    example: 58,
    responses: EVERY_AND_VIEW,
  },
  {
    name: "battery_level",
    type: "number",
    column: "number",
    columnNumber: 11,
    minimum: 0,
    maximum: 100,
    description: "Battery charge, percent.",
    example: 81,
    responses: EVERY,
  },
  {
    ...OPEN_TEXT,
    name: "type",
    column: "state",
    columnNumber: 12,
    description: "Kind of movement, such as STATIONARY or MOVING.",
    example: "MOVING",
    responses: EVERY,
  },
  {
    ...OPEN_TEXT,
    name: "battery_status",
    column: "state",
    columnNumber: 13,
    description: "Charging state, such as Charging or Not Charging.",
    example: "Not Charging",
    responses: EVERY,
  },
  {
    name: "network_status",
    type: "boolean",
    column: "state",
    columnNumber: 14,
    description: "Whether the device had a network.",
    example: true,
    responses: ALL_BUT_APP_HISTORY,
  },
  {
    name: "location_permission",
    type: "boolean",
    column: "state",
    columnNumber: 15,
    description: "Whether the device's app was allowed to read the location.",
    example: true,
    responses: ALL_BUT_APP_HISTORY,
  },
  {
    name: "is_mock",
    type: "boolean",
    column: "state",
    columnNumber: 16,
    isOfFix: true,
    description: "Whether the position came from a mock provider.",
    example: false,
    responses: ALL_BUT_APP_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "tracking_mode",
    column: "state",
    columnNumber: 17,
    description: "Tracking mode, such as PRECISE or BALANCED.",
    example: "PRECISE",
    responses: ALL_BUT_APP_HISTORY,
  },
  {
    name: "tz_offset",
    type: "string",
    column: "profile",
    columnNumber: 18,
    charactersMin: 1,
    charactersMax: 7,
    pattern: /^[+-]?\d{1,6}$/,
    description: "Offset of the location's timezone, a signed whole number.",
    example: "+0",
    responses: ALL_BUT_APP_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "brand",
    column: "profile",
    columnNumber: 19,
    description: "Device brand.",
    example: "Google",
    responses: OWN_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "model",
    column: "profile",
    columnNumber: 20,
    description: "Device model.",
    example: "Pixel 8",
    responses: OWN_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "os",
    column: "profile",
    columnNumber: 21,
    description: "Operating system, such as android.",
    example: "android",
    responses: OWN_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "os_version",
    column: "profile",
    columnNumber: 22,
    description: "Operating system version.",
    example: "15",
    responses: OWN_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "sdk_version",
    column: "profile",
    columnNumber: 23,
    description: "Version of the tracking SDK.",
    example: "3.2.1",
    responses: DEVICE_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "app_version_name",
    column: "profile",
    columnNumber: 24,
    description: "Version name of the device's app.",
    example: "5.4.0",
    responses: DEVICE_HISTORY,
  },
  {
    ...OPEN_TEXT,
    name: "app_version_code",
    column: "profile",
    columnNumber: 25,
    description: "Version code of the device's app.",
    example: "50400",
    responses: DEVICE_HISTORY,
  },
] as const satisfies readonly LocationField[];

type TableRow = (typeof LOCATION_FIELDS)[number];
type NamesIn<Column extends FieldColumn> = Extract<TableRow, { column: Column }>["name"];

/** Fields a report may carry, in the order of the table. */
export const REPORT_FIELDS: readonly StoredField[] = LOCATION_FIELDS.filter(
  (field) => field.column !== "derived",
);

/** The report fields in the order of their column numbers, which never change. */
export const STORED_FIELDS: readonly StoredField[] = byColumnNumber(REPORT_FIELDS);

/** Columns of doubles; latitude and longitude come first. */
export const NUMBER_FIELDS = storedIn("number");
export const PROFILE_FIELDS = storedIn("profile");
export const STATE_FIELDS = storedIn("state");

function byColumnNumber(fields: readonly StoredField[]): readonly StoredField[] {
  const known = new Set(RETIRED_COLUMN_NUMBERS);
  for (const { name, columnNumber } of fields) {
    const isOne = Number.isInteger(columnNumber) && columnNumber > 0 && columnNumber <= COLUMN_NUMBER_MAX;
    assert(isOne && !known.has(columnNumber), `column number ${columnNumber} of ${name} is its own`);
    known.add(columnNumber);
  }
  return fields.toSorted((a, b) => a.columnNumber - b.columnNumber);
}

function storedIn(column: FieldColumn): readonly StoredField[] {
  return STORED_FIELDS.filter((field) => field.column === column);
}

export type NumberFieldName = NamesIn<"number">;

export function numberIndex(name: NumberFieldName): number {
  return NUMBER_FIELDS.findIndex((field) => field.name === name);
}

export function profileIndex(name: NamesIn<"profile">): number {
  return PROFILE_FIELDS.findIndex((field) => field.name === name);
}

export function stateIndex(name: NamesIn<"state">): number {
  return STATE_FIELDS.findIndex((field) => field.name === name);
}
