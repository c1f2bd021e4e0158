import { fail, ok, type Result } from "../../lib/result.ts";
import { percentDecoded } from "../../lib/text/percent.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Schema } from "../shapes/shape.ts";

/**
 * One query parameter: how its text becomes a value, and how OpenAPI describes it, from the same bounds. The framework
 * doesn't parse it, because its coercion accepts `0x10`, `1e2` and ` 10`.
 */
export interface Parameter<Value> {
  readonly description: string;
  readonly schema: Schema;
  /** Whether it is required. If so it has an example, so that the document and the tests can call every endpoint. */
  readonly required: boolean;
  readonly example?: unknown;
  /** Whether the items of a list are one text, joined by commas, and not a parameter each. */
  readonly isJoined?: true;
  /** `text` is null if the parameter is absent. */
  parse(name: string, text: string | null): Result<Value, ServiceError>;
  /** For parameters that may be repeated: reads all texts. */
  parseAll?(name: string, texts: readonly string[]): Result<Value, ServiceError>;
}

/** Query parameters of an endpoint, by name. */
export type QueryParameters = Readonly<Record<string, Parameter<unknown>>>;

/** Values of a set of parameters, by name. */
export type QueryValues<Parameters> = {
  readonly [Name in keyof Parameters]: Parameters[Name] extends Parameter<infer Value> ? Value : never;
};

/** Reads the parameters of a set from a URL's query; others are ignored. */
export function readQuery<Parameters extends QueryParameters>(
  url: string,
  parameters: Parameters,
): Result<QueryValues<Parameters>, ServiceError> {
  return readPairs(queryPairs(url), parameters, {});
}

/** Reads the parameters of a set, in its order, into `values`, and sets the number of known names in `pairs`. */
export function readPairs<Parameters extends QueryParameters>(
  pairs: QueryPairs,
  parameters: Parameters,
  values: Record<string, unknown>,
): Result<QueryValues<Parameters>, ServiceError> {
  const { names, texts } = pairs;
  let known = 0;
  for (const name in parameters) {
    const parameter = parameters[name]!;
    const index = names.indexOf(name);
    const isRepeated = index >= 0 && names.includes(name, index + 1);
    if (isRepeated && parameter.parseAll === undefined) return invalid(`${name} must not be repeated`);
    if (index >= 0) known++; // Repetitions stay uncounted, which only costs a second pass.
    const parsed = isRepeated
      ? parameter.parseAll!(
          name,
          texts.filter((_, at) => names[at] === name),
        )
      : parameter.parse(name, index < 0 ? null : texts[index]!);
    if (!parsed.ok) return parsed;
    values[name] = parsed.value;
  }
  pairs.known = known;
  return ok(values as QueryValues<Parameters>);
}

/** Names that the header may list: none that could be a key or break the header. */
const NAMED = /^(?!wh_)[A-Za-z0-9_.-]{1,64}$/;
const NAMED_MAX = 8;

/** Names of parameters that are not in the set, for `Wherehouse-Ignored-Parameters`; null if there are none. */
export function ignoredParameters({ names }: QueryPairs, parameters: QueryParameters): string | null {
  let ignored: Set<string> | null = null;
  for (let at = 0; at < names.length; at++) {
    const name = names[at]!;
    if (Object.hasOwn(parameters, name) || !NAMED.test(name)) continue;
    ignored ??= new Set();
    ignored.add(name);
  }
  if (ignored === null) return null;
  const named = [...ignored].slice(0, NAMED_MAX);
  const left = ignored.size - named.length;
  return [...named, ...(left > 0 ? [`+${left}`] : [])].join(", ");
}

export interface QueryPairs {
  readonly names: string[];
  readonly texts: string[];
  /** The number of known names; -1 until all parameters of a set have been read. */
  known: number;
}

/** Names and values of a URL's query, decoded as in forms (URL Standard, section 5.1). */
export function queryPairs(url: string): QueryPairs {
  const pairs: QueryPairs = { names: [], texts: [], known: -1 };
  const start = url.indexOf("?") + 1;
  if (start === 0) return pairs;
  const hash = url.indexOf("#", start);
  const queryEnd = hash < 0 ? url.length : hash;
  for (let at = start; at <= queryEnd; ) {
    const ampersand = url.indexOf("&", at);
    const end = ampersand < 0 || ampersand > queryEnd ? queryEnd : ampersand;
    if (end > at) {
      const pair = url.slice(at, end); // The rest of the URL may have many pairs and no equals sign.
      const equals = pair.indexOf("=");
      const name = decoded(equals < 0 ? pair : pair.slice(0, equals));
      const text = equals < 0 ? "" : decoded(pair.slice(equals + 1));
      if (name === null || text === null) return standardPairs(url.slice(start, queryEnd));
      pairs.names.push(name);
      pairs.texts.push(text);
    }
    at = end + 1;
  }
  return pairs;
}

/** Null if only a form's decoder can read it. */
function decoded(text: string): string | null {
  return percentDecoded(text.includes("+") ? text.replaceAll("+", " ") : text);
}

/** Slower, and reads everything. */
function standardPairs(query: string): QueryPairs {
  const pairs = [...new URLSearchParams(`?${query}`)]; // One mark is not read.
  return { names: pairs.map(([name]) => name), texts: pairs.map(([, text]) => text), known: -1 };
}

export function invalid(message: string): { readonly ok: false; readonly error: ServiceError } {
  return fail({ kind: "invalid_parameter", message });
}
