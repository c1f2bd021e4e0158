import { assert } from "../../lib/assert.ts";
import { createFragment, type Fragment, type JsonWriter } from "../../lib/text/json-writer.ts";

/*
 * Shapes of answers. A shape is a schema for the document, a type for the compiler, and a way to write the value, so
 * the three can't contradict each other.
 */

/** A JSON Schema in the dialect of OpenAPI 3.0. */
export type Schema = Readonly<Record<string, unknown>>;

/** Schemas by member name, or by their name in the document. */
export type Schemas = Readonly<Record<string, Schema>>;

/**
 * An object with all required members, possibly some optional ones, and no others. Answers are closed so that of two
 * error shapes for one status only one can match.
 */
export function closed(required: Schemas, optional: Schemas = {}, description?: string): Schema {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    additionalProperties: false,
    ...(Object.keys(required).length === 0 ? {} : { required: Object.keys(required) }),
    properties: { ...required, ...optional },
  };
}

export function ref(section: "schemas" | "responses" | "headers", name: string): Schema {
  return { $ref: `#/components/${section}/${name}` };
}

export interface Shape<Value> {
  readonly schema: Schema;
  write(json: JsonWriter, value: Value): void;
}

export type ValueOf<Described> = Described extends Shape<infer Value> ? Value : never;

interface Constant<Value> extends Shape<Value> {
  readonly constant: Value;
}

/** A member that is omitted if its value is undefined. */
interface Optional<Value> extends Shape<Value> {
  readonly isOptional: true;
}

/** Members of an object by name, in the order in which they are written. */
type Members = Readonly<Record<string, Shape<never>>>;

type OptionalNames<All extends Members> = {
  [Name in keyof All]: All[Name] extends { readonly isOptional: true } ? Name : never;
}[keyof All];

type ConstantNames<All extends Members> = {
  [Name in keyof All]: All[Name] extends { readonly constant: unknown } ? Name : never;
}[keyof All];

/** The value of an object with these members. */
type ObjectOf<All extends Members> = {
  readonly [Name in Exclude<keyof All, OptionalNames<All>>]: ValueOf<All[Name]>;
} & { readonly [Name in OptionalNames<All>]?: ValueOf<All[Name]> | undefined };

/** A value that `JSON.stringify` writes. */
export function plain<Value>(schema: Schema): Shape<Value> {
  return { schema, write: (json, value) => json.value(value) };
}

export function text(description: string): Shape<string> {
  return { schema: { type: "string", description }, write: (json, value) => json.string(value) };
}

/** A whole number from 0. */
export function count(description: string): Shape<number> {
  return plain({ type: "integer", format: "int64", minimum: 0, description });
}

/** An instant in Unix ms; `description` says of what. */
export function instant(description: string): Shape<number> {
  return plain({ type: "integer", format: "int64", description });
}

export function amount(description: string): Shape<number> {
  return plain({ type: "number", minimum: 0, description });
}

export function always<const Value extends boolean | string>(constant: Value): Constant<Value> {
  return { ...plain<Value>({ type: typeof constant, enum: [constant] }), constant };
}

export function list<Value>(items: Shape<Value>): Shape<readonly Value[]> {
  return plain({ type: "array", items: items.schema });
}

export function optional<Value>(shape: Shape<Value>): Optional<Value> {
  return { ...shape, isOptional: true };
}

/** An object whose members are all plain values. */
export function object<const All extends Members>(members: All, description?: string): Shape<ObjectOf<All>> {
  return plain(schemaOf(members, description));
}

/**
 * The outermost object of an answer. Its members are written in order of declaration, since some write themselves:
 * records are bytes and never objects. Constants need no value.
 */
export function envelope<const All extends Members>(
  members: All,
): Shape<Omit<ObjectOf<All>, ConstantNames<All>>> {
  const { steps, end } = planSteps(members);
  return {
    schema: schemaOf(members),
    write(json, value) {
      const values = value as Readonly<Record<string, never>>;
      for (const { before, name, shape } of steps) {
        const member = values[name];
        if (member === undefined) continue;
        json.fragment(before);
        shape.write(json, member);
      }
      json.fragment(end);
    },
  };
}

/** A member with everything before it: the end of the previous one, constants, its name. */
interface Step {
  readonly before: Fragment;
  readonly name: string;
  readonly shape: Shape<never>;
}

function planSteps(members: Members): { readonly steps: readonly Step[]; readonly end: Fragment } {
  const steps: Step[] = [];
  let before = "{";
  for (const [name, shape] of Object.entries(members)) {
    const comma = before === "{" ? "" : ",";
    assert(!("isOptional" in shape) || before === "", "no constant stands before an optional member");
    if ("constant" in shape) before += `${comma}"${name}":${JSON.stringify(shape.constant)}`;
    else {
      steps.push({ before: createFragment(`${before}${comma}"${name}":`), name, shape });
      before = "";
    }
  }
  return { steps, end: createFragment(`${before}}`) };
}

function schemaOf(members: Members, description?: string): Schema {
  const required: Record<string, Schema> = {};
  const maybe: Record<string, Schema> = {};
  for (const [name, shape] of Object.entries(members)) {
    ("isOptional" in shape ? maybe : required)[name] = shape.schema;
  }
  return closed(required, maybe satisfies Schemas, description);
}

export const pageCounts = {
  count: count("Items in this answer."),
  has_more: plain<boolean>({ type: "boolean", description: "Whether more items follow them." }),
};

export const pageAsked = {
  offset: count("As requested."),
  limit: plain<number>({
    type: "integer",
    format: "int64",
    minimum: 1,
    maximum: 1000,
    description: "As requested.",
  }),
};

export const EXAMPLE_COUNTS = { count: 1, has_more: false };
export const EXAMPLE_ASKED = { offset: 0, limit: 100 };

/** The pagination of a list of which all items are counted; `counted` describes the total. */
export const listPagination = (counted: string) =>
  object({ ...pageCounts, total_count: count(counted), ...pageAsked });

export const EXAMPLE_LIST_PAGINATION = { ...EXAMPLE_COUNTS, total_count: 1, ...EXAMPLE_ASKED };

/** The pagination of a page with `shown` of `total` items. */
export function paginationOf(shown: number, total: number, offset: number, limit: number) {
  return { count: shown, has_more: offset + shown < total, total_count: total, offset, limit };
}
