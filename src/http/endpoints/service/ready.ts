import type { ServiceError } from "../../../model/errors.ts";
import { isForever } from "../../../model/time/retention.ts";
import { openEndpoint } from "../../endpoint.ts";
import { ALWAYS_SENT, failure, RETRY_AFTER } from "../../openapi/responses.ts";
import type { Readiness } from "../../services.ts";
import { always, count, object, optional, plain, text, type ValueOf } from "../../shapes/shape.ts";

const answer = object({
  status: always("ready"),
  damaged: count("Ranges of damaged data in quarantine; see the command verify."),
  retention: text("How far back records are kept, as configured: 365d, 10y, forever."),
  retention_start: plain<string | null>({
    type: "string",
    format: "date-time",
    nullable: true,
    description: "The first instant whose records are kept; null for `forever`.",
  }),
  seal: object(
    {
      last: plain<string | null>({
        type: "string",
        format: "date-time",
        nullable: true,
        description: "When the last seal succeeded; null if none has since the start.",
      }),
      late: plain<boolean>({
        type: "boolean",
        description: "Whether that, or the start, was more than three intervals ago (`--seal-every`).",
      }),
    },
    "The seal moves old records from memory into the archive. A late seal does not affect queries; the log says why.",
  ),
  lag_ms: optional(
    count("For how long the log has had entries that this node has not applied; absent without a cluster."),
  ),
});

const starting = object({
  status: always("starting"),
  replayed: count("Bytes of the log read so far."),
  total: count("Bytes of the whole log."),
});
const lagging = object({
  status: always("lagging"),
  lag_ms: count("As above. The node answers queries, but other nodes have newer data."),
});
const stopping = object({ status: always("stopping") });

export const ready = openEndpoint({
  operationId: "getReadiness",
  tag: "Service",
  summary: "Whether every acknowledged record can be queried",
  description: [
    "Before that, and while it stops, the server answers data queries with 503. A node of a cluster that has not applied",
    "entries of the log for more than 10 seconds answers queries, but is not ready.",
  ].join(" "),
  path: "/ready",
  answer: {
    name: "Ready",
    description: "Everything can be queried.",
    shape: answer,
    example: {
      status: "ready",
      damaged: 0,
      retention: "365d",
      retention_start: "2025-11-22T00:00:00.000Z",
      seal: { last: "2026-11-22T11:00:04.120Z", late: false },
    },
  },
  schemas: { NotReady: { oneOf: [starting.schema, lagging.schema, stopping.schema] } },
  failures: {
    503: failure("The server starts, lags or stops.", { ...RETRY_AFTER, ...ALWAYS_SENT }, ["NotReady"], {
      starting: { status: "starting", replayed: 1_048_576, total: 8_388_608 },
      lagging: { status: "lagging", lag_ms: 12_345 },
      stopping: { status: "stopping" },
    }),
  },
  open({ readiness, countDamaged, seals, retention, clock }, responder) {
    return async (request) => {
      const state = readiness();
      if (state.status === "ready") {
        const { lastMs, isLate } = seals();
        const body: ValueOf<typeof answer> = {
          status: "ready",
          damaged: await countDamaged(),
          retention: retention.text,
          retention_start: isForever(retention)
            ? null
            : new Date(retention.startMs(clock.nowMs())).toISOString(),
          seal: { last: lastMs === null ? null : new Date(lastMs).toISOString(), late: isLate },
          lag_ms: state.lagMs ?? undefined,
        };
        return responder.object(request, 200, body);
      }
      return responder.failure(request, NOT_READY, {}, notReady(state));
    };
  },
});

const NOT_READY: ServiceError = { kind: "unavailable", message: "not ready", retryAfterSeconds: 1 };

function notReady(
  state: Exclude<Readiness, { readonly status: "ready" }>,
): ValueOf<typeof starting> | ValueOf<typeof lagging> | ValueOf<typeof stopping> {
  return state.status === "lagging" ? { status: "lagging", lag_ms: state.lagMs } : state;
}
