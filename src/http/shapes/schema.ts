/** JSON Schemas, as OpenAPI 3.0 writes them. */

export type Schema = Readonly<Record<string, unknown>>;

/** Schemas by the name of a member, or by the name they have in the document. */
export type Schemas = Readonly<Record<string, Schema>>;

/**
 * An object with all of the first members, perhaps some of the second, and no others. Answers are closed like
 * this so that of two error shapes for one status only one can fit.
 */
export function closed(required: Schemas, optional: Schemas = {}, description?: string): Schema {
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
