import { assert } from "../../lib/assert.ts";
import { ANONYMOUS } from "../../model/ids.ts";
import { exampleOf } from "./describe-errors.ts";
import { EXAMPLE_REPORT } from "./describe-records.ts";
import { type Parameter, readQuery, type Schema } from "./parameter.ts";

/** Parameters as the document has them; those of a query come from the very records that read it. */

export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

export function describeQuery(parameters: Parameters): readonly Schema[] {
  return Object.entries(parameters).map(([name, { description, required, schema, example }]) => ({
    name,
    in: "query",
    required,
    description,
    schema,
    ...(example === undefined ? {} : { example }),
  }));
}

/** The body that a query gets which these parameters refuse. */
export function exampleOfRefused(parameters: Parameters, query: string): unknown {
  const read = readQuery(`?${query}`, parameters);
  assert(!read.ok, "the example of a refused query is refused");
  return exampleOf(read.error);
}

export const USER_ID: Schema = {
  name: "user_id",
  in: "path",
  required: true,
  description: `The user; neither blank nor ${ANONYMOUS}, the user of reports that name none.`,
  schema: { type: "string", pattern: "\\S", not: { enum: [ANONYMOUS] } },
  example: EXAMPLE_REPORT.user_id,
};

export const DEVICE_ID: Schema = {
  name: "deviceId",
  in: "path",
  required: true,
  description: "The device.",
  schema: { type: "string", minLength: 1 },
  example: EXAMPLE_REPORT.device_id,
};
