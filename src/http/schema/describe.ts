import { BATCH_REPORTS_MAX } from "../../model/report-batch.ts";
import { EMPTY_HISTORY_EXAMPLES, exampleOf } from "./describe-errors.ts";
import { describeOperation, describeQuestion, refusedQuery, refusedUserQuery } from "./describe-operation.ts";
import { DEVICE_ID, exampleOfRefused, USER_ID } from "./describe-parameters.ts";
import { EXAMPLE_REPORT } from "./describe-records.ts";
import {
  ALWAYS_SENT,
  answer,
  failure,
  NO_SUCH_PATH,
  RETRY_AFTER,
  SENT_TO_RETRY,
  SENT_WITH_KEY,
  shared,
} from "./describe-responses.ts";
import { ref } from "./describe-schema.ts";
import {
  appCurrentParameters,
  appHistoryParameters,
  deviceCurrentParameters,
  deviceHistoryParameters,
  nearbyParameters,
  userCurrentParameters,
  userDevicesParameters,
  userHistoryParameters,
} from "./parameters.ts";

/** What the document says of each route; the routes carry these as their `detail`. */

const HISTORY_PAGING =
  "Ordered by timestamp, then device_id. Paging through a range gives every record once, as long as no report for that range arrives in between.";
const NO_SUCH_DEVICE = "The device is unknown or belongs to another app; or there is nothing at this path.";

export const describeUserCurrent = describeQuestion({
  operationId: "getUserCurrentLocations",
  tag: "Users",
  summary: "Latest position of each device of a user",
  description: "The devices whose latest report names the user, ordered by device_id.",
  path: USER_ID,
  query: userCurrentParameters,
  answer: ["UserCurrent", "The positions."],
  responses: { 400: refusedUserQuery(userCurrentParameters, "limit=0"), 404: shared("NoSuchPath") },
});

export const describeUserHistory = describeQuestion({
  operationId: "getUserLocationHistory",
  tag: "Users",
  summary: "Positions of all devices of a user, by date",
  description: `Every report made under the user. ${HISTORY_PAGING}`,
  path: USER_ID,
  query: userHistoryParameters,
  answer: ["UserHistory", "One page of the positions."],
  responses: {
    400: refusedUserQuery(userHistoryParameters, "order=newest"),
    404: shared("NoSuchPath"),
  },
});

export const describeUserDevices = describeQuestion({
  operationId: "getUserDevices",
  tag: "Users",
  summary: "Devices of a user",
  description: "The devices whose latest report names the user, ordered by device_id.",
  path: USER_ID,
  query: userDevicesParameters,
  answer: ["UserDevices", "The devices."],
  responses: { 400: refusedUserQuery(userDevicesParameters, "active_only=yes"), 404: shared("NoSuchPath") },
});

export const describeDeviceCurrent = describeQuestion({
  operationId: "getDeviceCurrentLocation",
  tag: "Devices",
  summary: "Latest position of a device",
  description: "The position with the greatest timestamp, whenever it was received.",
  path: DEVICE_ID,
  query: deviceCurrentParameters,
  answer: ["DeviceCurrent", "The position."],
  responses: {
    400: refusedQuery(deviceCurrentParameters, "timezone=UTC&timezone=GMT"),
    404: failure(NO_SUCH_DEVICE, SENT_WITH_KEY, ["DeviceError", "PlainError"], {
      unknown_device: exampleOf({ kind: "device_not_found", deviceId: String(EXAMPLE_REPORT.device_id) }),
      no_such_path: NO_SUCH_PATH,
    }),
  },
});

export const describeDeviceHistory = describeQuestion({
  operationId: "getDeviceLocationHistory",
  tag: "Devices",
  summary: "Positions of a device, by date",
  description: HISTORY_PAGING,
  path: DEVICE_ID,
  query: deviceHistoryParameters,
  answer: ["DeviceHistory", "One page of the positions."],
  responses: {
    400: failure(
      "A parameter is invalid. An invalid timezone is answered with the empty envelope.",
      SENT_WITH_KEY,
      ["PlainError", "EmptyDeviceHistory"],
      {
        invalid_parameter: exampleOfRefused(deviceHistoryParameters, "min_accuracy=1001"),
        invalid_timezone: EMPTY_HISTORY_EXAMPLES.invalid_timezone,
      },
    ),
    404: failure(NO_SUCH_DEVICE, SENT_WITH_KEY, ["EmptyDeviceHistory", "PlainError"], {
      unknown_device: EMPTY_HISTORY_EXAMPLES.unknown_device,
      no_such_path: NO_SUCH_PATH,
    }),
  },
});

export const describeAppCurrent = describeQuestion({
  operationId: "getAppCurrentLocations",
  tag: "App",
  summary: "Latest position of each device of the app",
  description: "Ordered by device_id.",
  query: appCurrentParameters,
  answer: ["AppCurrent", "One page of the positions."],
  responses: { 400: refusedQuery(appCurrentParameters, "offset=-1") },
});

export const describeAppHistory = describeQuestion({
  operationId: "getAppLocationHistory",
  tag: "App",
  summary: "Positions of all devices of the app, by date",
  description: HISTORY_PAGING,
  query: appHistoryParameters,
  answer: ["AppHistory", "One page of the positions."],
  responses: { 400: refusedQuery(appHistoryParameters, "min_accuracy=1001") },
});

export const describeNearby = describeQuestion({
  operationId: "getNearbyDevices",
  tag: "Nearby",
  summary: "Devices within a radius of a point",
  description: "By their latest positions; nearest first, then by device_id.",
  query: nearbyParameters,
  answer: ["Nearby", "One page of the devices."],
  responses: { 400: refusedQuery(nearbyParameters, "latitude=91&longitude=0") },
});

export const describeIngest = describeOperation({
  operationId: "postLocations",
  tag: "Ingest",
  summary: "Takes in location reports",
  description: [
    "Needs the permission `write`; the reports belong to the key's app. The answer comes once everything",
    "accepted is on disk, and the very next query sees it. Each report stands alone: a bad one is named in",
    "`rejected`, the others count. Reports may come late, out of order and again; one for a device and",
    "timestamp that are already known replaces the fields it carries.",
    `At most ${BATCH_REPORTS_MAX.toLocaleString("en")} reports, and 16 MiB before and after decompression.`,
  ].join(" "),
  parameters: [
    {
      name: "Content-Encoding",
      in: "header",
      required: false,
      description: "How the body is compressed.",
      schema: { type: "string", enum: ["identity", "gzip", "zstd"], default: "identity" },
    },
  ],
  requestBody: {
    required: true,
    description: "Reports as JSON, or one report a line.",
    content: {
      "application/json": {
        schema: { anyOf: [ref("schemas", "LocationReports"), ref("schemas", "LocationReport")] },
        examples: { many: { value: { locations: [EXAMPLE_REPORT] } }, one: { value: EXAMPLE_REPORT } },
      },
      "application/x-ndjson": {
        schema: {
          type: "string",
          description: "One LocationReport as JSON a line; blank lines don't count.",
        },
        example: `${JSON.stringify(EXAMPLE_REPORT)}\n`,
      },
    },
  },
  needsKey: true,
  responses: {
    200: answer("IngestResult", "The body was read; `rejected` names what was not taken in.", SENT_WITH_KEY),
    400: failure("The body as a whole can't be read.", SENT_WITH_KEY, ["PlainError"], {
      body_unreadable: exampleOf({
        kind: "body_unreadable",
        message: "locations must be an array of reports",
      }),
    }),
    401: shared("Unauthorized"),
    403: shared("NoWrite"),
    413: failure(
      "The body is larger than 16 MiB, or holds more than 10,000 reports.",
      SENT_WITH_KEY,
      ["PlainError"],
      {
        body_too_large: exampleOf({
          kind: "body_too_large",
          message: "the body must be at most 16 MiB, before and after decompression",
        }),
      },
    ),
    415: failure(
      "The media type or the content encoding is none of those above.",
      SENT_WITH_KEY,
      ["PlainError"],
      {
        media_type: exampleOf({
          kind: "media_type_unsupported",
          message: "content-type must be application/json or application/x-ndjson",
        }),
      },
    ),
    429: shared("TooMany"),
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
});

export const describeHealth = describeOperation({
  operationId: "getHealth",
  tag: "Service",
  summary: "Whether the server runs",
  description: "Answers as soon as the process listens.",
  needsKey: false,
  responses: { 200: answer("Health", "It runs.", ALWAYS_SENT) },
});

export const describeReady = describeOperation({
  operationId: "getReadiness",
  tag: "Service",
  summary: "Whether every acknowledged record can be queried",
  description: "Before that, and while it stops, the server answers questions about data with 503.",
  needsKey: false,
  responses: {
    200: answer("Ready", "Everything can be queried.", ALWAYS_SENT),
    503: failure("The server is starting or stopping.", { ...RETRY_AFTER, ...ALWAYS_SENT }, ["NotReady"], {
      starting: { status: "starting", replayed: 1_048_576, total: 8_388_608 },
      stopping: { status: "stopping" },
    }),
  },
});

export const describeMetrics = describeOperation({
  operationId: "getMetrics",
  tag: "Service",
  summary: "What the server counts and holds",
  description:
    "In Prometheus' text format, of all apps together. Answers also while the server starts. Needs the permission `operate`.",
  needsKey: true,
  responses: {
    200: {
      description: "The metrics, each with its help.",
      headers: SENT_WITH_KEY,
      content: { "text/plain": { schema: { type: "string" } } },
    },
    401: shared("Unauthorized"),
    403: shared("NoOperate"),
    429: shared("TooMany"),
  },
});

export const describeDocs = describeOperation({
  operationId: "getDocument",
  tag: "Service",
  summary: "This document",
  description: "The OpenAPI description of the interface.",
  needsKey: false,
  responses: {
    200: {
      description: "An OpenAPI 3.0 document.",
      headers: ALWAYS_SENT,
      content: { "application/json": { schema: { type: "object" } } },
    },
  },
});

export const describeDocsPage = describeOperation({
  operationId: "getDocumentPage",
  tag: "Service",
  summary: "This document as a page for people",
  description: "Everything it needs comes from this server.",
  needsKey: false,
  responses: {
    200: {
      description: "A page that shows the document and can send requests.",
      headers: ALWAYS_SENT,
      content: { "text/html": { schema: { type: "string" } } },
    },
  },
});
