import type { Findings } from "../service/findings.ts";
import type { Metric } from "./metric.ts";

/** What the doctor finds, in numbers. */
export function doctorMetrics({ count }: Pick<Findings, "count">): Metric[] {
  return [
    {
      name: "wherehouse_findings",
      help:
        "Devices that something is wrong with, by what: clock, units, repeats, refused, silent. Counted once a minute; " +
        "GET /api/v1/doctor names them.",
      label: "kind",
      lookAll: count,
    },
  ];
}
