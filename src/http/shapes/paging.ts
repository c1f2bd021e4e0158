import { count, plain } from "./shape.ts";

/** What answers say of the page they are. */

export const pageCounts = {
  count: count("Items in this answer."),
  has_more: plain<boolean>({ type: "boolean", description: "Whether more items follow them." }),
};

export const pageAsked = {
  offset: count("As asked for."),
  limit: plain<number>({
    type: "integer",
    format: "int64",
    minimum: 1,
    maximum: 1000,
    description: "As asked for.",
  }),
};

export const EXAMPLE_COUNTS = { count: 1, has_more: false };
export const EXAMPLE_ASKED = { offset: 0, limit: 100 };
