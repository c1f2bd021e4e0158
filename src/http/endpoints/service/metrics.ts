import { METRICS_CONTENT_TYPE } from "../../../service/metrics/scrape.ts";
import { keyedEndpoint } from "../../endpoint.ts";

/** What the service counts and holds, of all apps together: for who operates it. */
export const metrics = keyedEndpoint({
  operationId: "getMetrics",
  tag: "Service",
  summary: "What the server counts and holds",
  description: [
    "In Prometheus' text format, of all apps together. Answers also while the server starts.",
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
