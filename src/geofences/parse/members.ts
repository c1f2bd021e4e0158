import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";

/*
 * Reading values of clients. Errors are sentences that begin with the path of the member and name its bounds. A member
 * that is null counts as absent.
 */

export type Parser<Value> = (value: unknown, path: string) => Result<Value, string>;

export type Parsers<Members> = { readonly [Name in keyof Members]: Parser<Members[Name]> };

/** The members of an object that has no others; `path` is "" for the outermost. */
export function parseMembers<Members>(
  value: unknown,
  path: string,
  parsers: Parsers<Members>,
): Result<Members, string> {
  if (!isObject(value)) return fail(`${path === "" ? "it" : path} must be an object`);
  const names = Object.keys(parsers) as (keyof Members & string)[];
  const stranger = Object.keys(value).find((name) => !names.some((known) => known === name));
  if (stranger !== undefined)
    return fail(
      `${pathOf(path, stranger)} is unknown: ${path === "" ? "the members" : `those of ${path}`} are ${names.join(", ")}`,
    );
  const members: Partial<Members> = {};
  for (const name of names) {
    const parsed = parsers[name](value[name] ?? null, pathOf(path, name));
    if (!parsed.ok) return parsed;
    members[name] = parsed.value;
  }
  return ok(members as Members);
}

function pathOf(path: string, name: string): string {
  const part = name.slice(0, NAME_CHARACTERS_MAX);
  return path === "" ? part : `${path}.${part}`;
}

/** Names in messages are cut. */
const NAME_CHARACTERS_MAX = 64;

export function optional<Value, Default>(parser: Parser<Value>, absent: Default): Parser<Value | Default> {
  return (value, path) => (value === null ? ok(absent) : parser(value, path));
}

export function number(minimum: number, maximum: number, unit = ""): Parser<number> {
  return bounded(minimum, maximum, unit, "a number", () => true);
}

export function integer(minimum: number, maximum: number, unit = ""): Parser<number> {
  return bounded(minimum, maximum, unit, "a whole number", Number.isInteger);
}

function bounded(
  minimum: number,
  maximum: number,
  unit: string,
  noun: string,
  isKind: (value: number) => boolean,
): Parser<number> {
  const bounds = `${minimum.toLocaleString("en")} to ${maximum.toLocaleString("en")}${unit}`;
  return (value, path) =>
    typeof value === "number" && value >= minimum && value <= maximum && isKind(value)
      ? ok(value)
      : fail(`${path} must be ${noun}, ${bounds}`);
}

export const boolean: Parser<boolean> = (value, path) =>
  typeof value === "boolean" ? ok(value) : fail(`${path} must be true or false`);

export function choice<const Word extends string>(words: readonly Word[]): Parser<Word> {
  return (value, path) => {
    const word = words.find((each) => each === value);
    return word === undefined ? fail(`${path} must be ${words.join(" or ")}`) : ok(word);
  };
}

/** A text of which `faultOf` knows what is wrong. */
export function text<Text extends string>(faultOf: (value: string) => string | null): Parser<Text> {
  return (value, path) => {
    if (typeof value !== "string") return fail(`${path} must be a text`);
    const fault = faultOf(value);
    return fault === null ? ok(value as Text) : fail(`${path} ${fault}`);
  };
}

/** A list of different items. */
export function list<Item>(
  parser: Parser<Item>,
  itemsMin: number,
  itemsMax: number,
): Parser<readonly Item[]> {
  return (value, path) => {
    if (!Array.isArray(value) || value.length < itemsMin || value.length > itemsMax)
      return fail(`${path} must be a list of ${itemsMin} to ${itemsMax.toLocaleString("en")} items`);
    const items: Item[] = [];
    for (const [index, each] of value.entries()) {
      const parsed = parser(each, `${path}[${index}]`);
      if (!parsed.ok) return parsed;
      items.push(parsed.value);
    }
    return ok([...new Set(items)]);
  };
}
