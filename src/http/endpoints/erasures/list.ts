import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import {
  always,
  EXAMPLE_LIST_PAGINATION,
  list,
  listPagination,
  object,
  paginationOf,
  type ValueOf,
} from "../../shapes/shape.ts";
import { EXAMPLE_ERASURE, erasureShape, presentErasure } from "./shapes.ts";

const answer = object({
  success: always(true),
  erasures: list(erasureShape),
  pagination: listPagination("Erasures before paging."),
});

export const listErasures = queryEndpoint({
  operationId: "getErasures",
  tag: "App",
  summary: "The erasures of the app",
  description: "Newest first. The ids of their subjects are not kept, so the list does not name them.",
  permission: "erase",
  path: "/api/v1/erasures",
  inPath: {},
  query: { limit, offset },
  wrongQuery: "limit=0",
  answer: {
    name: "Erasures",
    description: "One page of the erasures.",
    shape: answer,
    example: {
      success: true,
      erasures: [EXAMPLE_ERASURE],
      pagination: EXAMPLE_LIST_PAGINATION,
    },
  },
  open({ erasures }) {
    return (call, { limit, offset }) => {
      const all = erasures().list(call.appId);
      const page = all.slice(offset, offset + limit);
      const body: ValueOf<typeof answer> = {
        success: true,
        erasures: page.map(presentErasure),
        pagination: paginationOf(page.length, all.length, offset, limit),
      };
      return call.object(body, 200);
    };
  },
});
