import { ok, type Result } from "../../lib/result.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Schema } from "../shapes/shape.ts";
import { invalid, type Parameter } from "./parameter.ts";

/** Kinds of query parameters: numbers, texts, words and flags. Bounds are included. */

export interface NumberBounds {
  readonly description: string;
  readonly minimum: number;
  readonly maximum?: number;
}

export function numberParameter(
  type: "integer" | "number",
  bounds: NumberBounds,
  fallback: number,
): Parameter<number> {
  return {
    description: bounds.description,
    required: false,
    schema: { ...boundsSchema(type, bounds), default: fallback },
    parse: (name, text) => (text === null ? ok(fallback) : parseNumber(type, bounds, name, text)),
  };
}

/** An optional number; null if absent. */
export function optionalNumber(type: "integer" | "number", bounds: NumberBounds): Parameter<number | null> {
  return {
    description: bounds.description,
    required: false,
    schema: boundsSchema(type, bounds),
    parse: (name, text) => (text === null ? ok(null) : parseNumber(type, bounds, name, text)),
  };
}

export function requiredNumber(
  type: "integer" | "number",
  bounds: NumberBounds & { readonly example: number },
): Parameter<number> {
  return {
    description: bounds.description,
    required: true,
    schema: boundsSchema(type, bounds),
    example: bounds.example,
    parse: (name, text) =>
      text === null ? invalid(`${name} is required`) : parseNumber(type, bounds, name, text),
  };
}

/** An optional text; null if absent. */
export function optionalText(description: string): Parameter<string | null> {
  return { description, required: false, schema: { type: "string" }, parse: (_name, text) => ok(text) };
}

/** An optional text that may be repeated. */
export function severalTexts(description: string, textsMax: number): Parameter<readonly string[]> {
  return {
    description,
    required: false,
    schema: { type: "array", items: { type: "string" }, maxItems: textsMax },
    parse: (_name, text) => ok(text === null ? [] : [text]),
    parseAll: (name, texts) =>
      texts.length > textsMax ? invalid(`${name} must occur at most ${textsMax} times`) : ok(texts),
  };
}

/** An optional word of a few; null if absent. */
export function optionalWord<Word extends string>(
  description: string,
  words: readonly Word[],
): Parameter<Word | null> {
  return {
    description,
    required: false,
    schema: { type: "string", enum: words },
    parse(name, text) {
      if (text === null) return ok(null);
      const word = words.find((candidate) => candidate === text);
      return word === undefined ? invalid(`${name} must be ${words.join(", ")}`) : ok(word);
    },
  };
}

/** Several of a few words, separated by commas. */
export function severalWords<Word extends string>(
  description: string,
  words: readonly Word[],
  fallback: readonly Word[],
): Parameter<readonly Word[]> {
  const any = `(${words.join("|")})`;
  return {
    description: `${description} Separated by commas: ${words.join(", ")}.`,
    required: false,
    schema: { type: "string", pattern: `^${any}(,${any})*$`, default: fallback.join() },
    parse(name, text) {
      if (text === null) return ok(fallback);
      const items = text.split(",", words.length + 1).map((item) => words.find((word) => word === item));
      const known = items.filter((word) => word !== undefined);
      if (known.length < items.length) return invalid(`${name} must be of ${words.join(", ")}`);
      return new Set(known).size < known.length ? invalid(`${name} must name each once`) : ok(known);
    },
  };
}

/** One of a few words, with a default. */
export function choice<Word extends string>(
  description: string,
  words: readonly Word[],
  fallback: Word,
): Parameter<Word> {
  return {
    description,
    required: false,
    schema: { type: "string", enum: words, default: fallback },
    parse(name, text) {
      if (text === null) return ok(fallback);
      const word = words.find((candidate) => candidate === text);
      return word === undefined ? invalid(`${name} must be ${words.join(" or ")}`) : ok(word);
    },
  };
}

/** `true` or `false`, with `false` as default. */
export function flag(description: string, type: "boolean" | "string"): Parameter<boolean> {
  const schema =
    type === "boolean" ? { type, default: false } : { type, enum: ["true", "false"], default: "false" };
  const word = choice(description, ["true", "false"], "false");
  return {
    description,
    required: false,
    schema,
    parse(name, text) {
      const parsed = word.parse(name, text);
      return parsed.ok ? ok(parsed.value === "true") : parsed;
    },
  };
}

function boundsSchema(type: "integer" | "number", { minimum, maximum }: NumberBounds): Schema {
  const highest = maximum ?? (type === "integer" ? Number.MAX_SAFE_INTEGER : undefined);
  // Bounds that a double can't represent exactly are those of int64, which the format implies.
  return {
    type,
    ...(type === "integer" ? { format: "int64" } : {}),
    ...(minimum < Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(highest === undefined || highest > Number.MAX_SAFE_INTEGER ? {} : { maximum: highest }),
  };
}

function parseNumber(
  type: "integer" | "number",
  { minimum, maximum }: NumberBounds,
  name: string,
  text: string,
): Result<number, ServiceError> {
  const value = parsePlainDecimal(text) + 0; // -0 is 0.
  if (type === "integer" && (Number.isNaN(value) || text.includes(".")))
    return invalid(`${name} must be an integer`);
  if (Number.isNaN(value)) return invalid(`${name} must be a number in plain decimals`);
  const highest = maximum ?? (type === "integer" ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE);
  if (value >= minimum && value <= highest && (type === "number" || fitsInt64(value, text))) return ok(value);
  if (maximum !== undefined) {
    return invalid(`${name} must be between ${boundText(minimum)} and ${boundText(maximum)}`);
  }
  return invalid(
    value < minimum ? `${name} must be at least ${minimum}` : `${name} must be at most ${highest}`,
  );
}

/** The intended bound: the greatest int64 is not a double, and its neighbour prints too few digits. */
function boundText(bound: number): string {
  return Math.abs(bound) < 2 ** 63 ? String(bound) : String(BigInt(bound) - (bound > 0 ? 1n : 0n));
}

/** Doubles can't distinguish the greatest int64 from the next integer, nor the least from the one before. */
function fitsInt64(value: number, text: string): boolean {
  if (Math.abs(value) < 2 ** 63) return true;
  const exact = BigInt(text);
  return exact === BigInt.asIntN(64, exact);
}
