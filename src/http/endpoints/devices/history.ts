import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { DEVICE_NOT_FOUND, timezoneMessage } from "../../errors.ts";
import { exampleOfRefused } from "../../openapi/operation.ts";
import { failure, missingDevice, SENT_WITH_DATA } from "../../openapi/responses.ts";
import {
  accuracyMetersTo1000,
  dates,
  distanceTravelled,
  HISTORY_PAGING,
  limit,
  offset,
  order,
  timezone,
} from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { readHistoryQuery } from "../../parameters/ranges.ts";
import {
  distance,
  distanceOf,
  EXAMPLE_QUERY_INFO,
  pageCountsOf,
  queryInfo,
  queryInfoOf,
} from "../../shapes/history.ts";
import { EXAMPLE_REPORT, exampleRecord } from "../../shapes/record-schemas.ts";
import { historyRecords } from "../../shapes/records.ts";
import {
  always,
  EXAMPLE_COUNTS,
  envelope,
  object,
  optional,
  pageCounts,
  plain,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";

const answer = envelope({
  success: always(true),
  device_id: text("The requested device."),
  locations: historyRecords("deviceHistory"),
  distance_travelled: optional(object(distance)),
  pagination: object(pageCounts),
  query_info: object(queryInfo),
});

const nothing = plain<0>({ type: "integer", enum: [0] });

/** Answers an invalid time zone and an unknown device; §4.4 of the specification. */
const emptyAnswer = object(
  {
    success: always(false),
    device_id: text("The requested device."),
    locations: plain<readonly []>({ type: "array", items: {}, maxItems: 0 }),
    pagination: object({ count: nothing, has_more: always(false) }),
    query_info: object({
      time_range: object({
        start: text("start_date, or empty if the timezone is invalid."),
        end: text("end_date, or empty if the timezone is invalid."),
      }),
      data_scanned_mb: nothing,
      query_time_ms: nothing,
    }),
    message: text("What is wrong: the parameter and the bound it broke."),
  },
  "The envelope of device history without data, and why it is empty.",
);

function emptyHistory(
  device: string,
  start: string,
  end: string,
  message: string,
): ValueOf<typeof emptyAnswer> {
  return {
    success: false,
    device_id: device,
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: { time_range: { start, end }, data_scanned_mb: 0, query_time_ms: 0 },
    message,
  };
}

const query = {
  ...dates,
  limit,
  offset,
  min_accuracy: accuracyMetersTo1000,
  timezone,
  distance_travelled: distanceTravelled,
  order,
  fields: fieldsOf("deviceHistory"),
};

const EXAMPLE_DEVICE = String(EXAMPLE_REPORT.device_id);

export const deviceHistory = queryEndpoint({
  operationId: "getDeviceLocationHistory",
  tag: "Devices",
  summary: "Positions of a device, by date",
  description: HISTORY_PAGING,
  path: "/api/v1/devices/:deviceId/locations/history",
  inPath: { deviceId },
  query,
  wrongQuery: "min_accuracy=1001",
  answer: {
    name: "DeviceHistory",
    description: "One page of the positions.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_DEVICE,
      locations: [exampleRecord("deviceHistory")],
      pagination: EXAMPLE_COUNTS,
      query_info: EXAMPLE_QUERY_INFO,
    },
  },
  schemas: { EmptyDeviceHistory: emptyAnswer.schema },
  failures: {
    400: failure(
      "A parameter is invalid. An invalid timezone is answered with the empty envelope.",
      SENT_WITH_DATA,
      ["PlainError", "EmptyDeviceHistory"],
      {
        invalid_parameter: exampleOfRefused(query, "min_accuracy=1001"),
        invalid_timezone: emptyHistory(EXAMPLE_DEVICE, "", "", timezoneMessage("Mars/Olympus")),
      },
    ),
    404: missingDevice(
      "EmptyDeviceHistory",
      emptyHistory(EXAMPLE_DEVICE, "2026-01-26", "2026-01-26", DEVICE_NOT_FOUND),
    ),
  },
  open({ history, answers }) {
    return (call, values) => {
      const dated = readHistoryQuery(values, call.nowMs);
      if (!dated.ok) return call.fail(dated.error);
      const { deviceId, timezone: zone, fields } = values;
      const { startDate, endDate, query } = dated.value;
      return mapMaybe(history.ofDevice(call.appId, deviceId, query, call.request), (result) => {
        if (!result.ok) {
          if (result.error.kind !== "device_not_found") return call.fail(result.error);
          return call.fail(result.error, emptyHistory(deviceId, startDate, endDate, DEVICE_NOT_FOUND));
        }
        const { pages, paths } = result.value;
        const body = {
          device_id: deviceId,
          locations: { appId: call.appId, pages, zone, fields },
          distance_travelled: paths === null ? undefined : distanceOf(paths),
          pagination: pageCountsOf(result.value),
          query_info: queryInfoOf(result.value, query, call.elapsedMs()),
        };
        return call.json(answers.write(answer, body));
      });
    };
  },
  refuse(call, error, { deviceId }) {
    if (error.kind !== "invalid_timezone") return call.fail(error);
    return call.fail(error, emptyHistory(deviceId, "", "", timezoneMessage(error.supplied)));
  },
});
