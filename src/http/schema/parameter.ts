import { fail, ok, type Result } from "../../lib/result.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import type { ServiceError } from "../../model/errors.ts";

/** A JSON Schema, as OpenAPI 3.0 writes it. */
export type Schema = Readonly<Record<string, unknown>>;

/**
 * One query parameter: how its text becomes a value, and how OpenAPI describes it. Both come from the same
 * bounds. Text is parsed here, not by the framework, whose coercion takes `0x10`, `1e2` and ` 10`.
 */
export interface Parameter<Value> {
  readonly description: string;
  readonly required: boolean;
  readonly schema: Schema;
  readonly example?: unknown;
  /** `text` is null where the parameter was not given. */
  parse(name: string, text: string | null): Result<Value, ServiceError>;
}

/** Values of a set of parameters, by name. */
export type Values<Parameters> = {
  [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value> ? Value : never;
};

/** Reads the parameters of a set from a URL's query, in the set's order; others are ignored. */
export function readQuery<Parameters extends Readonly<Record<string, Parameter<unknown>>>>(
  url: string,
  parameters: Parameters,
): Result<Values<Parameters>, ServiceError> {
  const { names, texts } = queryPairs(url);
  const values: Record<string, unknown> = {};
  for (const name in parameters) {
    const index = names.indexOf(name);
    if (index >= 0 && names.includes(name, index + 1)) return invalid(`${name} must be given once`);
    const parsed = parameters[name]!.parse(name, index < 0 ? null : texts[index]!);
    if (!parsed.ok) return parsed;
    values[name] = parsed.value;
  }
  return ok(values as Values<Parameters>);
}

interface QueryPairs {
  readonly names: string[];
  readonly texts: string[];
}

/** Names and values of a URL's query, decoded. Most queries hold nothing to decode, which makes slices do. */
function queryPairs(url: string): QueryPairs {
  const pairs: QueryPairs = { names: [], texts: [] };
  const start = url.indexOf("?") + 1;
  if (start === 0) return pairs;
  if (/[%+#]/.test(url)) {
    for (const [name, text] of new URLSearchParams(url.slice(start).split("#", 1)[0]))
      push(pairs, name, text);
    return pairs;
  }
  for (let at = start; at <= url.length; ) {
    const ampersand = url.indexOf("&", at);
    const end = ampersand < 0 ? url.length : ampersand;
    const equals = url.indexOf("=", at);
    if (equals < 0 || equals > end) push(pairs, url.slice(at, end), "");
    else push(pairs, url.slice(at, equals), url.slice(equals + 1, end));
    at = end + 1;
  }
  return pairs;
}

function push({ names, texts }: QueryPairs, name: string, text: string): void {
  names.push(name);
  texts.push(text);
}

export function invalid(message: string): { readonly ok: false; readonly error: ServiceError } {
  return fail({ kind: "invalid_parameter", message });
}

export interface NumberBounds {
  readonly description: string;
  readonly minimum: number;
  readonly maximum?: number;
  readonly example?: number;
}

/** A number with a default. Bounds are included. */
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

/** A number that may be left out, which gives null. */
export function optionalNumber(type: "integer" | "number", bounds: NumberBounds): Parameter<number | null> {
  return {
    description: bounds.description,
    required: false,
    schema: boundsSchema(type, bounds),
    parse: (name, text) => (text === null ? ok(null) : parseNumber(type, bounds, name, text)),
  };
}

export function requiredNumber(type: "integer" | "number", bounds: NumberBounds): Parameter<number> {
  return {
    description: bounds.description,
    required: true,
    schema: boundsSchema(type, bounds),
    ...(bounds.example === undefined ? {} : { example: bounds.example }),
    parse: (name, text) =>
      text === null ? invalid(`${name} is required`) : parseNumber(type, bounds, name, text),
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
  // Bounds that a double can't hold exactly are those of int64, which the format names.
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

/** The bound as it is meant: the greatest int64 is no double, and its neighbour shows too few digits. */
function boundText(bound: number): string {
  return Math.abs(bound) < 2 ** 63 ? String(bound) : String(BigInt(bound) - (bound > 0 ? 1n : 0n));
}

/** Doubles can't tell the greatest int64 from the integer after it, nor the least from the one before. */
function fitsInt64(value: number, text: string): boolean {
  if (Math.abs(value) < 2 ** 63) return true;
  const exact = BigInt(text);
  return exact === BigInt.asIntN(64, exact);
}
