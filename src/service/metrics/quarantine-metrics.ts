import type { QuarantineTotals } from "../quarantine/quarantine.ts";
import type { Metric } from "./metric.ts";

/** What clients sent and nobody could use; `totals` is null until the quarantine is open. */
export function quarantineMetrics(totals: () => QuarantineTotals | null): Metric[] {
  return [
    {
      name: "wherehouse_quarantine_entries",
      help: "Messages and points in the quarantine, by app that sent them and by why they could not be used.",
      labels: ["client", "reason"],
      lookSamples: () =>
        (totals()?.kinds ?? []).map(({ client, reason, entries }) => ({
          labels: { client, reason },
          value: entries,
        })),
    },
    {
      name: "wherehouse_quarantine_bytes",
      help: "What they count as; small ones count as 1 KiB.",
      look: () => totals()?.bytes ?? null,
    },
    {
      name: "wherehouse_quarantine_bytes_max",
      help: "What they may come to. Beyond it, or beyond the share of a key or app, clients get a 503.",
      look: () => totals()?.bytesMax ?? null,
    },
    {
      name: "wherehouse_quarantine_displaced_total",
      help: "Entries of MQTT that gave way to newer ones, since their topic or app had its share.",
      look: () => totals()?.displaced ?? null,
    },
    {
      name: "wherehouse_quarantine_refused_total",
      help: "Messages that got a 503 since a share or the disk was full, or the disk failed.",
      look: () => totals()?.refused ?? null,
    },
  ];
}
