import type { MessageCounts } from "../ingest/messages/message-counts.ts";
import type { Metric } from "./metric.ts";

/** What apps that report in their own words sent. */
export function clientMetrics(counts: MessageCounts): Metric[] {
  return [
    {
      name: "wherehouse_client_messages_total",
      help: "Messages taken from apps that report in their own words, by app.",
      label: "client",
      lookAll: () => Object.fromEntries(counts.messages),
    },
    {
      name: "wherehouse_client_points_total",
      help:
        "What they held, by app and by what became of it: accepted, duplicates, " +
        "refused (kept in the quarantine), skipped (no positions).",
      labels: ["client", "outcome"],
      lookSamples: () =>
        [...counts.points].flatMap(([client, points]) =>
          Object.entries(points).map(([outcome, value]) => ({ labels: { client, outcome }, value })),
        ),
    },
    {
      name: "wherehouse_client_fields_left_out_total",
      help: "Optional fields of such points that were left out, since they could not be read or were out of bounds.",
      look: () => counts.leftOutFields,
    },
    {
      name: "wherehouse_client_times_of_arrival_total",
      help: "Such points that had no time, and so have that of their arrival.",
      look: () => counts.timesOfArrival,
    },
    {
      name: "wherehouse_client_times_corrected_total",
      help: "Times of such points that were 1024 weeks behind and were set right: a fault of old GPS receivers.",
      look: () => counts.rolledOverTimes,
    },
  ];
}
