import type { Schema } from "./parameter.ts";

/** Short words for the JSON Schemas of bodies, as OpenAPI 3.0 writes them. */

export type Members = Readonly<Record<string, Schema>>;

/**
 * An object with all of the first members, perhaps some of the second, and no others. Answers are closed like
 * this so that of two error shapes for one status only one can fit.
 */
export function closed(required: Members, optional: Members = {}, description?: string): Schema {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    additionalProperties: false,
    required: Object.keys(required),
    properties: { ...required, ...optional },
  };
}

export function ref(section: "schemas" | "responses" | "headers", name: string): Schema {
  return { $ref: `#/components/${section}/${name}` };
}

export function list(items: Schema): Schema {
  return { type: "array", items };
}

export function text(description: string): Schema {
  return { type: "string", description };
}

/** A whole number from 0. */
export function count(description: string): Schema {
  return { type: "integer", format: "int64", minimum: 0, description };
}

/** A number from 0. */
export function amount(description: string): Schema {
  return { type: "number", minimum: 0, description };
}

/** The one value that a member always has. */
export function always(value: boolean | string): Schema {
  return { type: typeof value, enum: [value] };
}
