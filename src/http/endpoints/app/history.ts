import { assert } from "../../../lib/assert.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { queryEndpoint } from "../../endpoint.ts";
import {
  accuracyMetersTo1000,
  dates,
  HISTORY_PAGING,
  limit,
  offset,
  order,
  timezone,
} from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { readHistoryQuery } from "../../parameters/ranges.ts";
import { EXAMPLE_QUERY_INFO, pageCountsOf, queryInfo, queryInfoOf } from "../../shapes/history.ts";
import { exampleRecord } from "../../shapes/record-schemas.ts";
import { historyRecords } from "../../shapes/records.ts";
import { always, count, EXAMPLE_COUNTS, envelope, object, pageCounts, text } from "../../shapes/shape.ts";

const answer = envelope({
  success: always(true),
  app_id: text("Application of the key."),
  locations: historyRecords("appHistory"),
  pagination: object({
    ...pageCounts,
    total_devices: count("Devices with a matching record in the range."),
  }),
  query_info: object({ ...queryInfo, devices_queried: count("Devices of the app.") }),
});

export const appHistory = queryEndpoint({
  operationId: "getAppLocationHistory",
  tag: "App",
  summary: "Positions of all devices of the app, by date",
  description: HISTORY_PAGING,
  path: "/api/v1/locations/history",
  inPath: {},
  query: {
    ...dates,
    limit,
    offset,
    min_accuracy: accuracyMetersTo1000,
    timezone,
    order,
    fields: fieldsOf("appHistory"),
  },
  wrongQuery: "min_accuracy=1001",
  answer: {
    name: "AppHistory",
    description: "One page of the positions.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      locations: [exampleRecord("appHistory")],
      pagination: { ...EXAMPLE_COUNTS, total_devices: 1 },
      query_info: { ...EXAMPLE_QUERY_INFO, devices_queried: 1 },
    },
  },
  open({ history, answers }) {
    return (call, values) => {
      const dated = readHistoryQuery(values, call.nowMs);
      if (!dated.ok) return call.fail(dated.error);
      const { query } = dated.value;
      return mapMaybe(history.ofApp(call.appId, query, call.request), (result) => {
        if (!result.ok) return call.fail(result.error);
        const { pages, devicesMatching, devicesQueried } = result.value;
        assert(devicesMatching !== null, "the history of an app counts its devices");
        const body = {
          app_id: call.appId,
          locations: { appId: call.appId, pages, zone: values.timezone, fields: values.fields },
          pagination: { ...pageCountsOf(result.value), total_devices: devicesMatching },
          query_info: {
            ...queryInfoOf(result.value, query, call.elapsedMs()),
            devices_queried: devicesQueried,
          },
        };
        return call.json(answers.write(answer, body));
      });
    };
  },
});
