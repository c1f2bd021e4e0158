import { METRICS_CONTENT_TYPE } from "../../../service/metrics/scrape.ts";
import { keyedEndpoint } from "../../endpoint.ts";

/** The service's metrics for all apps together, for its operator. */
export const metrics = keyedEndpoint({
  operationId: "getMetrics",
  tag: "Service",
  summary: "Metrics of the server",
  description: [
    "In Prometheus' text format, for all apps together. Available while the server starts, too.",
    "Needs the permission `operate`.",
  ].join(" "),
  method: "GET",
  path: "/metrics",
  permission: "operate",
  answer: {
    description: "The metrics, each with its help.",
    contentType: "text/plain",
    schema: { type: "string" },
  },
  open:
    ({ scrape }) =>
    async (call) =>
      call.text(await scrape(), METRICS_CONTENT_TYPE),
});
