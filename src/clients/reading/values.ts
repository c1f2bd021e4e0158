import { isObject } from "../../lib/is-object.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import { LongList } from "../content.ts";

/*
 * Values as clients write them, which is looser than our own interface: numbers may be text, and what is not known may
 * be null, empty, NaN or a number that can't be.
 */

/** What an object, a form or the parameters of a URL say, by name. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object of a message; a list is none, however long. */
export function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value) && !(value instanceof LongList);
}

/** Members of an object; none of anything else. */
export function objectOrEmpty(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Parameters as members, so that they are read like those of an object; the first of a name counts. */
export function objectOfParameters(...sources: readonly URLSearchParams[]): JsonObject {
  const members: Record<string, unknown> = Object.create(null);
  for (const parameters of sources) for (const [name, value] of parameters) members[name] ??= value;
  return members;
}

/** Decimal with sign and exponent, as `1.0E-4`; no hexadecimal, no blanks inside. */
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;
/** The longest that a double needs, and some. A longer one is no measurement. */
const DECIMAL_CHARACTERS_MAX = 64;

/** A finite number; null if there is none. */
export function readNumber(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || value.length > DECIMAL_CHARACTERS_MAX) return null;
  const plain = parsePlainDecimal(value); // As most are; the expression takes longer.
  if (!Number.isNaN(plain)) return plain;
  const text = value.trim();
  if (!DECIMAL.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}

/** Whether a value says anything: clients send null or an empty text in place of what they don't know. */
export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && !(typeof value === "string" && value.trim() === "");
}

/** The first of some values that says anything; null if none does. */
export function firstPresent(...values: readonly unknown[]): unknown {
  return values.find(isPresent) ?? null;
}

/** A finite number; null if there is nothing, NaN if there is something that is no such number. */
export function readNumberOrNaN(value: unknown): number | null {
  const number = readNumber(value);
  return number === null && isPresent(value) ? Number.NaN : number;
}

/** Like `readNumberOrNaN`, but null below zero, where clients say that they don't know. */
export function readMagnitudeOrNaN(value: unknown): number | null {
  const number = readNumberOrNaN(value);
  return number !== null && number < 0 ? null : number;
}

/** Like `readNumberOrNaN`, but null at zero and below, for clients that write 0 where they don't know. */
export function readPositiveOrNaN(value: unknown): number | null {
  const number = readNumberOrNaN(value);
  return number !== null && number <= 0 ? null : number;
}

/** Percent, whole, of a share of one. */
export function percentOf(share: number): number {
  return Math.round(share * 100);
}

/** `true`, or a text that says so; null for anything that says neither. */
export function readBoolean(value: unknown): boolean | null {
  if (typeof value === "boolean") return value;
  if (value === "true" || value === "1" || value === 1) return true;
  if (value === "false" || value === "0" || value === 0) return false;
  return null;
}

/** Text that is not empty; numbers count, since ids are sent as such. */
export function readText(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}
