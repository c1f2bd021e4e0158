import { CLIENT_NAMES } from "../../../clients/client.ts";
import { REFUSAL_REASONS } from "../../../clients/point.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { optionalText, optionalWord } from "../../parameters/kinds.ts";
import { always, count, EXAMPLE_COUNTS, list, object, pageCounts, type ValueOf } from "../../shapes/shape.ts";
import { EXAMPLE_ENTRY, entrySummary, presentEntry } from "./entry-shapes.ts";

/* What apps of others sent to this app and nobody could use. */

const answer = object({
  success: always(true),
  entries: list(entrySummary),
  pagination: object(pageCounts),
  total_count: count("Entries in all that the filters let through."),
});

export const quarantineList = queryEndpoint({
  operationId: "getQuarantine",
  tag: "App",
  summary: "Messages and points that could not be used",
  description: [
    "The newest first. What apps on the paths of clients send and cannot be used is kept for 90 days at most, so that",
    "it can be looked at and tried again.",
  ].join(" "),
  path: "/api/v1/quarantine",
  inPath: {},
  query: {
    client: optionalWord("Only what came on this client's path.", CLIENT_NAMES),
    reason: optionalWord("Only what could not be used for this reason.", REFUSAL_REASONS),
    device_id: optionalText("Only what seems to be this device's."),
    limit,
    offset,
  },
  wrongQuery: "limit=0",
  answer: {
    name: "Quarantine",
    description: "One page of the entries.",
    shape: answer,
    example: { success: true, entries: [EXAMPLE_ENTRY], pagination: EXAMPLE_COUNTS, total_count: 1 },
  },
  open({ quarantine }) {
    return (call, { client, reason, device_id, limit, offset }) => {
      const filter = { client, reason, deviceId: device_id };
      const { entries, total } = quarantine().list(call.appId, filter, offset, limit);
      const page: ValueOf<typeof answer> = {
        success: true,
        entries: entries.map(presentEntry),
        pagination: { count: entries.length, has_more: offset + entries.length < total },
        total_count: total,
      };
      return call.object(page, 200);
    };
  },
});
