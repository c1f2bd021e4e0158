import { CLIENT_NAMES } from "../../../clients/client.ts";
import { REFUSAL_REASONS } from "../../../clients/point.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { optionalText, optionalWord } from "../../parameters/kinds.ts";
import { always, count, EXAMPLE_COUNTS, list, object, pageCounts, type ValueOf } from "../../shapes/shape.ts";
import { EXAMPLE_ENTRY, entrySummary, presentEntry } from "./entry-shapes.ts";

const answer = object({
  success: always(true),
  entries: list(entrySummary),
  pagination: object(pageCounts),
  total_count: count("All entries that match the filters."),
});

export const quarantineList = queryEndpoint({
  operationId: "getQuarantine",
  tag: "App",
  summary: "Messages and points that could not be used",
  description: [
    "Newest first. Messages on client paths that can't be used are stored for at most 90 days, so that people can inspect",
    "and replay them.",
  ].join(" "),
  path: "/api/v1/quarantine",
  inPath: {},
  query: {
    client: optionalWord("Only messages on this client's path.", CLIENT_NAMES),
    reason: optionalWord("Only messages refused for this reason.", REFUSAL_REASONS),
    device_id: optionalText("Only messages that are probably from this device."),
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
