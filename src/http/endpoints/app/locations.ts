import { IMPORT_USER_AGENT, NEW_RECORDS, SAME_TIME } from "../../../import/post.ts";
import { ok } from "../../../lib/result.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { BATCH_REPORTS_MAX } from "../../../model/report-batch.ts";
import { FUTURE_MAX_MS } from "../../../model/time/retention.ts";
import { type IngestedReports, NONE } from "../../../service/doctor/ingested-reports.ts";
import { bodiesOf, ingestBatches, sameTimeOf } from "../../../service/ingest/ingest.ts";
import type { BodyShare } from "../../body/body-budget.ts";
import { BodyReader, TOO_MANY_REPORTS } from "../../body/body-reader.ts";
import { type ReadReports, withoutRows } from "../../body/collect-reports.ts";
import { readReports, reportFormat } from "../../body/read-reports.ts";
import type { Call } from "../../call.ts";
import { keyedEndpoint } from "../../endpoint.ts";
import { CONTENT_ENCODING } from "../../openapi/operation.ts";
import {
  BODY_TOO_LARGE,
  exampleOf,
  failure,
  SENT_TO_RETRY,
  SENT_WITH_DATA,
} from "../../openapi/responses.ts";
import { invalid, type QueryParameters, readQuery } from "../../parameters/parameter.ts";
import type { Services } from "../../services.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { always, count, list, object, optional, ref, text, type ValueOf } from "../../shapes/shape.ts";

/* Reports from devices. */

const answer = object({
  success: always(true),
  accepted: count("Reports that are new or change what is stored; all of them are on disk."),
  duplicates: count("Reports that change nothing."),
  rejected: list(
    object({
      index: count("The report's position in the request, from 0."),
      message: text("What is wrong with it."),
      device_id: optional(text("The report's device_id; absent if it has none that can be shown.")),
    }),
  ),
  sequence: count("Position in the log after this request."),
});

const OTHER_APP: ServiceError = {
  kind: "invalid_parameter",
  message: "app_id is not the app of this key; nothing was stored",
};

const query = {
  app_id: {
    description: "The app that the reports are meant for. If the key belongs to another, nothing is stored.",
    required: false,
    schema: { type: "string", minLength: 1, maxLength: 64 },
    parse: (_name: string, text: string | null) => ok(text),
  },
  count: {
    description:
      "With `exact` the answer's headers also consider the archive's records. That takes longer; it is for imports.",
    required: false,
    schema: { type: "string", enum: ["exact"] },
    parse: (name: string, text: string | null) =>
      text === null || text === "exact" ? ok(text) : invalid(`${name} must be exact`),
  },
} satisfies QueryParameters;

export const ingestLocations = keyedEndpoint({
  operationId: "postLocations",
  tag: "Ingest",
  summary: "Stores location reports",
  description: [
    "Needs the permission `write`; the reports belong to the key's app. The answer comes once everything",
    "accepted is on disk, and the very next query sees it. Each report stands alone: an invalid one is listed in",
    "`rejected`, and the others are stored. Reports may come late, out of order and repeatedly. A report with the device",
    "and timestamp of a record replaces the fields it has, unless it is a worse fix of another position: then the fix",
    "with the smaller horizontal_accuracy stays as a whole. If the key is bound to a device, a user or both, it writes",
    "only as them: `device_id` and `user_id` may then be absent, even if they are required below, and a report that",
    "names another is rejected. So is one of a device or user that was erased and blocked; its message begins with",
    "`erased`.",
    `At most ${BATCH_REPORTS_MAX.toLocaleString("en")} reports, and 16 MiB before and after decompression.`,
  ].join(" "),
  method: "POST",
  path: "/ingest/v1/locations",
  permission: "write",
  query,
  headers: [CONTENT_ENCODING],
  body: {
    description: "Reports as JSON, or one report per line.",
    example: { locations: [EXAMPLE_REPORT] },
    content: {
      "application/json": {
        schema: { anyOf: [ref("schemas", "LocationReports"), ref("schemas", "LocationReport")] },
        examples: { many: { value: { locations: [EXAMPLE_REPORT] } }, one: { value: EXAMPLE_REPORT } },
      },
      "application/x-ndjson": {
        schema: {
          type: "string",
          description: "One LocationReport as JSON per line; blank lines are ignored.",
        },
        example: `${JSON.stringify(EXAMPLE_REPORT)}\n`,
      },
    },
  },
  responseHeaders: {
    "Wherehouse-New-Records": ref("headers", "NewRecords"),
    "Wherehouse-Same-Time": ref("headers", "SameTime"),
  },
  answer: {
    name: "IngestResult",
    description: "The body was read; `rejected` lists the reports that were not stored.",
    shape: answer,
    example: {
      success: true,
      accepted: 1,
      duplicates: 0,
      rejected: [{ index: 1, device_id: "bus-4811", message: "latitude must be between -90 and 90" }],
      sequence: 4711,
    },
  },
  failures: {
    400: failure(
      "The body as a whole can't be read, or is meant for another app.",
      SENT_WITH_DATA,
      ["PlainError"],
      {
        other_app: exampleOf(OTHER_APP),
        body_unreadable: exampleOf({
          kind: "body_unreadable",
          message: "locations must be an array of reports",
        }),
      },
    ),
    413: failure(
      "The body is larger than 16 MiB, or has more than 10,000 reports.",
      SENT_WITH_DATA,
      ["PlainError"],
      BODY_TOO_LARGE,
    ),
    415: failure(
      "The media type or the content encoding is not one of those above.",
      SENT_WITH_DATA,
      ["PlainError"],
      {
        media_type: exampleOf({
          kind: "media_type_unsupported",
          message: "content-type must be application/json or application/x-ndjson",
        }),
      },
    ),
    503: failure(
      "The server is starting or stopping, or its disk is full or behind.",
      SENT_TO_RETRY,
      ["PlainError"],
      {
        disk_full: exampleOf({
          kind: "unavailable",
          message: "the disk is full: no reports are taken until there is room",
          retryAfterSeconds: 10,
        }),
      },
    ),
  },
  open(services) {
    const reader = new BodyReader();
    return async (call) => {
      const share = services.bodies.begin(call);
      if (share === null) return call.fail(TOO_MANY_REPORTS);
      try {
        return await storeReports(services, reader, call, share);
      } finally {
        share.end();
      }
    };
  },
});

async function storeReports(
  { scheduler, ingest, exactIngest, doctor, retention, reports: counts }: Services,
  reader: BodyReader,
  call: Call,
  share: BodyShare,
) {
  const parameters = readQuery(call.request.url, query);
  if (!parameters.ok) return call.fail(parameters.error);
  const { app_id: intendedApp, count: exactness } = parameters.value;
  if (intendedApp !== null && intendedApp !== call.appId) return call.fail(OTHER_APP);
  const format = reportFormat(call.request.headers.get("content-type"));
  if (format === null) {
    return call.fail({
      kind: "media_type_unsupported",
      message: "content-type must be application/json or application/x-ndjson",
    });
  }
  const body = await reader.read(call.request, share);
  if (!body.ok) return call.fail(body.error);
  const times = { oldestMs: retention.startMs(call.nowMs), newestMs: call.nowMs + FUTURE_MAX_MS };
  const rules = { times, binding: call.binding };
  const reports = await scheduler.run(bodiesOf(call.appId), readReports(body.value, format, rules));
  if (!reports.ok) return call.fail(reports.error);
  const into = exactness === "exact" ? exactIngest(call.request) : ingest;
  const stored = await ingestBatches(into, call.appId, reports.value.batches);
  if (!stored.ok) return call.fail(stored.error);
  const { accepted, duplicates, created, blocked, sequence } = stored.value;
  const read = withoutRows(reports.value, blocked);
  counts.accepted += accepted;
  counts.duplicates += duplicates;
  counts.rejected += read.rejected.length;
  // A repeated import is not a device that repeats itself, and its times say nothing about a clock.
  if (call.request.headers.get("user-agent") !== IMPORT_USER_AGENT)
    doctor.note(call, "native", ingestedReports(call.nowMs, read, duplicates));
  const rejected = read.rejected.map(({ index, deviceId, message }) => ({
    index,
    device_id: deviceId,
    message,
  }));
  const result: ValueOf<typeof answer> = { success: true, accepted, duplicates, rejected, sequence };
  return call.object(result, 200, {
    [NEW_RECORDS]: String(created),
    [SAME_TIME]: String(sameTimeOf(stored.value)),
  });
}

/** For the doctor. The message of a rejected report has no values of the sender. */
function ingestedReports(
  arrivedMs: number,
  { batches, rejected }: ReadReports,
  duplicates: number,
): IngestedReports {
  const refused = rejected.map(({ index, deviceId = null, message }) => {
    return {
      deviceId,
      reason: "invalid",
      fault: null,
      detail: message,
      position: `locations[${index}]`,
    } as const;
  });
  return { arrivedMs, batches, duplicates, refused, skipped: NONE, leftOut: [], timedByArrival: 0 };
}
