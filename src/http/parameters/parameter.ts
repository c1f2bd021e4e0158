import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Schema } from "../shapes/shape.ts";

/**
 * One query parameter: how its text becomes a value, and how OpenAPI describes it. Both come from the same
 * bounds. Text is parsed here, not by the framework, whose coercion takes `0x10`, `1e2` and ` 10`.
 */
export interface Parameter<Value> {
  readonly description: string;
  readonly schema: Schema;
  /** Whether it must be given; then it has an example, so that the document and the tests can ask every endpoint. */
  readonly required: boolean;
  readonly example?: unknown;
  /** `text` is null where the parameter was not given. */
  parse(name: string, text: string | null): Result<Value, ServiceError>;
  /** Where it may be given more than once: of all its texts. */
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

/** Reads the parameters of a set, in the set's order, into `values`, and counts in `pairs` how many it took. */
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
    if (isRepeated && parameter.parseAll === undefined) return invalid(`${name} must be given once`);
    if (index >= 0) known++; // Of those that come more than once, the others are gone through again.
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

/** The name of every parameter that a header names: none that could be a key, or break the header. */
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
  /** How many of them are of a set of parameters; -1 until all of that set were read. */
  known: number;
}

/** Names and values of a URL's query, decoded. Most queries hold nothing to decode, which makes slices do. */
export function queryPairs(url: string): QueryPairs {
  const pairs: QueryPairs = { names: [], texts: [], known: -1 };
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
