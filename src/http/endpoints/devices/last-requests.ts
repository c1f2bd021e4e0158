import { CLIENT_NAMES } from "../../../clients/client.ts";
import type { ValueFault } from "../../../clients/point.ts";
import { MS_PER_SECOND } from "../../../model/time/units.ts";
import type { NotedRequest } from "../../../service/doctor/last-requests.ts";
import { type UnderstoodReport, understoodReport } from "../../../service/doctor/report-values.ts";
import { findDevice } from "../../../service/queries/find-device.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import { always, count, list, object, optional, plain, ref, text, type ValueOf } from "../../shapes/shape.ts";

/* "Test my device": the last requests with reports of a device, and how the server read them. */

const request = object({
  received: plain<number>({
    type: "integer",
    format: "int64",
    description: "The time of arrival, Unix milliseconds.",
  }),
  client: plain<string>({
    type: "string",
    enum: [...CLIENT_NAMES, "native"],
    description: "The client whose format was read; native is POST /ingest/v1/locations.",
  }),
  taken: count("Stored reports of the device, including those that changed nothing."),
  newest: optional(
    plain<UnderstoodReport>({
      allOf: [ref("schemas", "LocationReport")],
      description:
        "The last of them in the request, with all its fields, in this API's units; absent if there is none.",
    }),
  ),
  lag_seconds: optional(
    plain<number>({
      type: "number",
      description: "From that report's timestamp to its arrival; negative if the device's clock is ahead.",
    }),
  ),
  refused_count: count("Points of the device that could not be used."),
  refused: list(
    object({
      reason: text("As in the quarantine; `invalid` for reports that POST /ingest/v1/locations rejects."),
      detail: optional(
        text(
          "Details, such as which value is absent, unreadable or out of range; absent if the reason says all.",
        ),
      ),
      position: optional(text("Its position in the request; absent if it is the whole request.")),
    }),
  ),
  duplicates: count("Reports of the whole request, for all its devices, that changed nothing."),
  left_out: list(
    object({
      field: text("An optional field that was omitted from reports of the request."),
      reason: plain<ValueFault>({
        type: "string",
        enum: ["unreadable", "out_of_range"],
        description: "The value is present but unreadable, or out of range.",
      }),
      count: count("How often."),
    }),
  ),
  timed_by_arrival: count(
    "Reports of the request with the time of arrival, because the request has nothing that could be a time.",
  ),
  skipped: list(
    object({
      what: text("Something that is not a position: an event, a heartbeat."),
      count: count("How often."),
    }),
  ),
});

const answer = object({
  success: always(true),
  device_id: text("The requested device."),
  requests: list(request),
});

export const deviceLastRequests = queryEndpoint({
  operationId: "getDeviceLastRequests",
  tag: "Devices",
  summary: "The last requests of a device, as the server read them",
  description: [
    "Newest first, at most 5, for the 10,000 devices heard most recently since the server started; for others the list is",
    "empty. If there are many requests, some are skipped. Devices that only ever had refused points are included.",
  ].join(" "),
  path: "/api/v1/devices/:deviceId/last-requests",
  inPath: { deviceId },
  query: {},
  answer: {
    name: "DeviceLastRequests",
    description: "The requests.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      requests: [
        {
          received: Number(EXAMPLE_REPORT.timestamp) + MS_PER_SECOND,
          client: "overland",
          taken: 1,
          newest: EXAMPLE_REPORT,
          lag_seconds: 1,
          refused_count: 1,
          refused: [{ reason: "null_island", position: "points[3]" }],
          duplicates: 0,
          left_out: [{ field: "speed", reason: "unreadable", count: 1 }],
          timed_by_arrival: 0,
          skipped: [{ what: "visit", count: 1 }],
        },
      ],
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  open({ doctor, hot, clock, retention }) {
    return (call, { deviceId }) => {
      const requests = doctor.lastRequests(call.appId, deviceId);
      if (requests === null) {
        const known = findDevice({ hot, clock, retention }, call.appId, deviceId);
        if (!known.ok) return call.fail(known.error);
      }
      const body: ValueOf<typeof answer> = {
        success: true,
        device_id: deviceId,
        requests: presentRequests(requests ?? []),
      };
      return call.object(body, 200);
    };
  },
});

export function presentRequests(requests: readonly NotedRequest[]): ValueOf<typeof request>[] {
  return requests.map(presented).reverse();
}

function presented({
  message,
  accepted,
  newest,
  refusedCount,
  refused,
}: NotedRequest): ValueOf<typeof request> {
  const { arrivedMs, client, duplicates, leftOut, timedByArrival, skipped } = message;
  const report = newest === null ? undefined : understoodReport(newest);
  return {
    received: arrivedMs,
    client,
    taken: accepted,
    newest: report,
    lag_seconds: report && (arrivedMs - Number(report.timestamp)) / MS_PER_SECOND,
    refused_count: refusedCount,
    refused: refused.map(({ reason, detail, position }) => {
      return { reason, detail: detail ?? undefined, position: position ?? undefined };
    }),
    duplicates,
    left_out: leftOut.map(({ field, fault, count }) => ({ field, reason: fault, count })),
    timed_by_arrival: timedByArrival,
    skipped: skipped.map(({ name, count }) => ({ what: name, count })),
  };
}
