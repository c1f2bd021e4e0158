import { ANONYMOUS } from "./ids.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  REPORT_FIELDS,
  STATE_FIELDS,
} from "./location-fields.ts";
import { BATCH_REPORTS_MAX, NOT_CARRIED, type ReportBatchBuilder } from "./report-batch.ts";

/** The accepted fix times: within the retention, and not further ahead than clocks drift. */
export interface AcceptedTimes {
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** A report that was not stored, and why, in words for its sender. */
export interface RejectedReport {
  readonly index: number;
  readonly deviceId?: string;
  readonly message: string;
}

/** Unix seconds before the year 5138 are below this; as milliseconds it is March 1973. */
const LOOKS_LIKE_SECONDS_MAX = 100_000_000_000;

/** The end of the message for a report older than the retention; an import recognizes it and adds advice. */
export const BEFORE_RETENTION = ", the start of the retention";
export const IN_FUTURE = "timestamp must not be more than 10 minutes in the future";

/** The message for a report of an erased device or user that is blocked. */
export const ERASED = "erased: reports of this device or user are refused since it was erased";

const DEVICE_FIELD = REPORT_FIELDS.find((field) => field.column === "device")!;
const USER_FIELD = PROFILE_FIELDS.find((field) => field.name === "user_id")!;
const PROFILE_TEXTS = PROFILE_FIELDS.map(withOpenness);
const STATE_TEXTS = STATE_FIELDS.map(withOpenness);
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f]/;

/**
 * Checks one report of any shape and appends it to the batch; returns what is wrong with it, or null. An invalid report
 * leaves the batch's rows unchanged. Unknown members are ignored, and `null` counts as absent.
 */
export function addReport(report: unknown, times: AcceptedTimes, batch: ReportBatchBuilder): string | null {
  if (typeof report !== "object" || report === null || Array.isArray(report)) {
    return "a report must be a JSON object";
  }
  const members = report as Record<string, unknown>;
  const timeFault = timestampFault(members.timestamp, times);
  const deviceFault = textFault(DEVICE_FIELD, members.device_id);
  if (deviceFault !== null) return deviceFault;
  if (timeFault !== null) return timeFault;

  batch.begin();
  for (let c = 0; c < NUMBER_FIELDS.length; c++) {
    const field = NUMBER_FIELDS[c]!;
    const value = members[field.name];
    if (value === undefined || value === null) {
      if (field.required) return `${field.name} is required`;
      continue;
    }
    if (typeof value !== "number" || !(value >= field.minimum! && value <= field.maximum!)) {
      return numberFault(field, value);
    }
    batch.numbers[c] = value + 0; // -0 becomes 0, as JSON shows it.
  }
  return (
    fillTexts(PROFILE_TEXTS, members, batch.profile, batch) ??
    fillTexts(STATE_TEXTS, members, batch.state, batch) ??
    addRow(members, batch)
  );
}

/** The error message for a report with this device id; null if the id is valid. */
export function deviceIdFault(text: string): string | null {
  return textFault(DEVICE_FIELD, text);
}

/** Like `deviceIdFault`, for the id of a user other than `ANONYMOUS`. */
export function userIdFault(text: string): string | null {
  if (text === ANONYMOUS) return `${ANONYMOUS} stands for reports without a user`;
  return textFault(USER_FIELD, text);
}

function addRow(members: Record<string, unknown>, batch: ReportBatchBuilder): null {
  batch.add(batch.text(members.device_id as string), members.timestamp as number);
  return null;
}

interface TextField {
  readonly field: LocationField;
  /** Whether it accepts every text that any field accepts; fields with patterns accept fewer. */
  readonly isOpen: boolean;
}

function withOpenness(field: LocationField): TextField {
  return { field, isOpen: field.type === "string" && isOpenText(field) };
}

export function isOpenText({ pattern, refused, charactersMin, charactersMax }: LocationField): boolean {
  const texts = REPORT_FIELDS.filter((other) => other.type === "string");
  const isLongest = texts.every((other) => charactersMax! >= other.charactersMax!);
  return pattern === undefined && refused === undefined && charactersMin === 0 && isLongest;
}

function fillTexts(
  fields: readonly TextField[],
  members: Record<string, unknown>,
  tuple: Uint32Array,
  batch: ReportBatchBuilder,
): string | null {
  for (let m = 0; m < fields.length; m++) {
    const { field, isOpen } = fields[m]!;
    const value = members[field.name];
    if (value === undefined || value === null) {
      tuple[m] = NOT_CARRIED;
      continue;
    }
    if (isOpen && typeof value === "string") {
      tuple[m] = batch.find(value);
      if (tuple[m] !== NOT_CARRIED) continue; // Most texts repeat, and the texts in the batch have been checked.
    }
    if (field.type === "boolean") {
      if (typeof value !== "boolean") return `${field.name} must be true or false`;
      tuple[m] = batch.text(value ? "true" : "false");
    } else {
      const fault = textFault(field, value);
      if (fault !== null) return fault;
      tuple[m] = batch.text(value as string);
    }
  }
  return null;
}

/** What is wrong with a timestamp; null if it is valid. */
export function timestampFault(value: unknown, times: AcceptedTimes): string | null {
  if (value === undefined || value === null) return "timestamp is required";
  if (typeof value !== "number" || !Number.isSafeInteger(value)) {
    return "timestamp must be an integer, Unix time in milliseconds";
  }
  if (value > 0 && value < LOOKS_LIKE_SECONDS_MAX) {
    return "timestamp must be Unix time in milliseconds; this looks like seconds";
  }
  if (value < times.oldestMs) {
    return `timestamp must not be before ${new Date(times.oldestMs).toISOString()}${BEFORE_RETENTION}`;
  }
  if (value > times.newestMs) return IN_FUTURE;
  return null;
}

function numberFault(field: LocationField, value: unknown): string {
  if (typeof value !== "number") return `${field.name} must be a number`;
  return `${field.name} must be between ${field.minimum} and ${field.maximum}`;
}

/** What is wrong with a value of a text field; null if it is valid. */
export function textFault(field: LocationField, value: unknown): string | null {
  if (typeof value === "string") {
    if (field.pattern !== undefined) {
      return field.pattern.test(value) ? null : `${field.name} must match ${field.pattern.source}`;
    }
    const { charactersMin = 0, charactersMax = Number.POSITIVE_INFINITY } = field;
    // A text has at most as many characters as UTF-16 units, so only long ones are counted.
    const tooLong = value.length > charactersMax && characterCount(value) > charactersMax;
    if (value.length < charactersMin || tooLong) {
      return `${field.name} must have ${charactersMin} to ${charactersMax} characters`;
    }
    if (field.refused?.includes(value)) {
      return `${field.name} must not be ${field.refused.join(" or ")}, which a path can't contain`;
    }
    if (CONTROL_CHARACTERS.test(value)) return `${field.name} must not contain control characters`;
    if (!value.isWellFormed()) return `${field.name} must be valid Unicode, without lone surrogates`;
    return null;
  }
  if (value === undefined || value === null) return `${field.name} is required`;
  return `${field.name} must be a string`;
}

function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The message for a body or file part with more reports than fit in a batch. */
export const TOO_MANY_REPORTS = `at most ${BATCH_REPORTS_MAX.toLocaleString("en")} reports fit in one request`;
