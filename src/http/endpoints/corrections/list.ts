import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { optionalText, optionalWord } from "../../parameters/kinds.ts";
import {
  always,
  EXAMPLE_LIST_PAGINATION,
  list,
  listPagination,
  object,
  paginationOf,
  type ValueOf,
} from "../../shapes/shape.ts";
import { correctionShape, EXAMPLE_CORRECTION, presentCorrection } from "./shapes.ts";

const answer = object({
  success: always(true),
  corrections: list(correctionShape),
  pagination: listPagination("Corrections before paging."),
});

export const listCorrections = queryEndpoint({
  operationId: "getCorrections",
  tag: "App",
  summary: "The corrections of the app",
  description: "Newest first. The last 10,000 that were undone are in the list too.",
  permission: "edit",
  path: "/api/v1/corrections",
  inPath: {},
  query: {
    device_id: optionalText("Only corrections that touch this device."),
    state: optionalWord("Only corrections in this state.", ["active", "undone"]),
    limit,
    offset,
  },
  wrongQuery: "limit=0",
  answer: {
    name: "Corrections",
    description: "One page of the corrections.",
    shape: answer,
    example: {
      success: true,
      corrections: [EXAMPLE_CORRECTION],
      pagination: EXAMPLE_LIST_PAGINATION,
    },
  },
  open({ hot }) {
    return (call, { device_id, state, limit, offset }) => {
      const all = hot.corrections.list(call.appId, device_id, state === null ? null : state === "active");
      const page = all.slice(offset, offset + limit);
      const body: ValueOf<typeof answer> = {
        success: true,
        corrections: page.map(presentCorrection),
        pagination: paginationOf(page.length, all.length, offset, limit),
      };
      return call.object(body, 200);
    };
  },
});
