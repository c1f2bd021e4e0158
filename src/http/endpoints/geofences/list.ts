import { Buffer } from "node:buffer";
import type { HeldWatch } from "../../../geofences/held-watch.ts";
import { presentFence } from "../../../geofences/present.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { findWatches, type WatchPage } from "../../../service/geofences/find-watches.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox, limit, offset } from "../../parameters/common.ts";
import { optionalText } from "../../parameters/kinds.ts";
import {
  always,
  EXAMPLE_LIST_PAGINATION,
  list,
  listPagination,
  object,
  paginationOf,
} from "../../shapes/shape.ts";
import { EXAMPLE_FENCE, GEOFENCE_SCHEMA, geofence } from "./shapes.ts";

const answer = object({
  success: always(true),
  geofences: list(geofence),
  pagination: listPagination("Geofences before paging."),
});

export const listGeofences = queryEndpoint({
  operationId: "getGeofences",
  tag: "Geofences",
  summary: "The geofences of the app",
  description: "In the order in which they were made.",
  path: "/api/v1/geofences",
  inPath: {},
  query: {
    bbox: bbox("Only geofences that may meet this box: whose own box does."),
    tag: optionalText("Only geofences with this tag."),
    text: optionalText("Only geofences whose name or tag contains this text, in upper or lower case."),
    limit,
    offset,
  },
  wrongQuery: "limit=0",
  answer: {
    name: "Geofences",
    description: "One page of the geofences.",
    shape: answer,
    example: {
      success: true,
      geofences: [EXAMPLE_FENCE],
      pagination: EXAMPLE_LIST_PAGINATION,
    },
  },
  schemas: { Geofence: GEOFENCE_SCHEMA },
  open({ hot, scheduler }) {
    return (call, { bbox: box, tag, text, limit, offset }) => {
      const query = { kind: "fence", box, tag, text, limit, offset } as const;
      const steps = findWatches(hot.watches.find(call.appId), query);
      const page = scheduler.runAtOnce(call.appId, call.request.signal, steps);
      return mapMaybe(page, (found) => call.pieces(piecesOf(found, offset, limit)));
    };
  },
});

/** A page of fences with many corners is some megabytes. */
function* piecesOf(
  { watches, total }: WatchPage,
  offset: number,
  limit: number,
): Iterable<Uint8Array<ArrayBuffer>> {
  yield bytesOf('{"success":true,"geofences":[');
  for (const [index, watch] of watches.entries()) yield bytesOf(`${index === 0 ? "" : ","}${textOf(watch)}`);
  const pagination = paginationOf(watches.length, total, offset, limit);
  yield bytesOf(`],"pagination":${JSON.stringify(pagination)}}`);
}

function textOf(watch: HeldWatch): string {
  return JSON.stringify(presentFence(watch));
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text);
}
