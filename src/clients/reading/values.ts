import { isObject } from "../../lib/is-object.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import { LongList } from "../content.ts";

/*
 * Values as clients send them, less strict than this server's own interface: numbers may be texts, and an unknown value
 * may be null, empty, NaN or an impossible number.
 */

/** The members of an object, a form or a URL's parameters, by name. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object of a message. Lists, long ones too, are not. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof LongList);
}

export function objectOrEmpty(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Parameters as an object. The first of several with the same name counts. */
export function objectOfParameters(...sources: readonly URLSearchParams[]): JsonObject {
  const members: Record<string, unknown> = Object.create(null);
  for (const parameters of sources) for (const [name, value] of parameters) members[name] ??= value;
  return members;
}

/** Decimal with sign and exponent, as `1.0E-4`; no hexadecimal, no blanks inside. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** More than any double needs. A longer text is not a measurement. */
const DECIMAL_CHARACTERS_MAX = 64;

/** A finite number; null for anything else. */
export function readNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || value.length > DECIMAL_CHARACTERS_MAX) return null;
  const plain = parsePlainDecimal(value); // Fits most texts; the regular expression takes longer.
  if (!Number.isNaN(plain)) return plain;
  const text = value.trim();
  if (!DECIMAL.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Whether a value is there: clients send null or an empty text for an unknown one. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "");
}

export function firstPresent(...values: readonly unknown[]): unknown {
  return values.find(isPresent) ?? null;
}

/** A finite number; null if the value is missing, NaN if it is not such a number. */
export function readNumberOrNaN(value: unknown): number | null {
  const number = readNumber(value);
  return number === null && isPresent(value) ? Number.NaN : number;
}

/** Like `readNumberOrNaN`, but null below zero, which clients send for unknown values. */
export function readMagnitudeOrNaN(value: unknown): number | null {
  const number = readNumberOrNaN(value);
  return number !== null && number < 0 ? null : number;
}

/** Like `readNumberOrNaN`, but null at zero and below, for clients that send 0 for unknown values. */
export function readPositiveOrNaN(value: unknown): number | null {
  const number = readNumberOrNaN(value);
  return number !== null && number <= 0 ? null : number;
}

/** A fraction of one as whole percent. */
export function percentOf(share: number): number {
  return Math.round(share * 100);
}

/** `true`, `false` or an equivalent text or number; null for anything else. */
export function readBoolean(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "1" || value === 1) return true;
  if (value === "false" || value === "0" || value === 0) return false;
  return null;
}

/** A nonempty text. Numbers count too, because some clients send ids as numbers. */
export function readText(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
