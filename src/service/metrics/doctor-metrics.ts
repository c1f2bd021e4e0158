import type { Doctor } from "../doctor/doctor.ts";
import type { Findings } from "../queries/findings.ts";
import type { Metric } from "./metric.ts";

/** What the doctor finds, in numbers. */
export function doctorMetrics(
  doctor: Pick<Doctor, "deviceCount">,
  { count }: Pick<Findings, "count">,
): Metric[] {
  return [
    {
      name: "wherehouse_doctor_devices",
      help: "Devices that the doctor knows something of, once for each app that speaks for them; at most 100,000.",
      look: () => doctor.deviceCount,
    },
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
