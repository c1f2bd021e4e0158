import { sendWithPlaces, withPlaces } from "../../encode/place-marks.ts";
import { RecordNames } from "../../encode/record-names.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, names, offset, places, timezone } from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { optionalNumber } from "../../parameters/kinds.ts";
import { exampleRecord } from "../../shapes/record-schemas.ts";
import { shownRecords } from "../../shapes/records.ts";
import {
  always,
  EXAMPLE_LIST_PAGINATION,
  envelope,
  listPagination,
  paginationOf,
  text,
} from "../../shapes/shape.ts";

const answer = envelope({
  success: always(true),
  app_id: text("Application of the key."),
  locations: shownRecords,
  pagination: listPagination("Items before paging."),
});

/** Any int64: clients send its extremes for "no bound". */
const instant = { minimum: -(2 ** 63), maximum: 2 ** 63 };

export const appCurrent = queryEndpoint({
  operationId: "getAppCurrentLocations",
  tag: "App",
  summary: "Latest position of each device of the app",
  description: "Ordered by device_id. For share links, the filters apply to the times that they show.",
  path: "/api/v1/locations/current",
  isForViews: true,
  inPath: {},
  query: {
    limit,
    offset,
    timestamp_after: optionalNumber("integer", {
      ...instant,
      description: "Only locations after this, Unix ms.",
    }),
    timestamp_before: optionalNumber("integer", {
      ...instant,
      description: "Only locations before this, Unix ms.",
    }),
    timezone,
    places,
    fields: fieldsOf("current"),
    names,
  },
  wrongQuery: "offset=-1",
  answer: {
    name: "AppCurrent",
    description: "One page of the positions.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      locations: [exampleRecord("current")],
      pagination: EXAMPLE_LIST_PAGINATION,
    },
  },
  open({ current, answers, loadPlaces, hot }) {
    return (
      call,
      { limit, offset, timestamp_after, timestamp_before, timezone: zone, places, fields, names: withNames },
    ) => {
      const { view } = call;
      const query = { limit, offset, afterMs: timestamp_after, beforeMs: timestamp_before, view };
      const names = withNames ? new RecordNames(hot.profiles, call.appId) : null;
      return withPlaces(places ? loadPlaces() : null, (marks) =>
        current.ofApp(call.appId, query, call.request, ({ page: match, total }) => {
          const count = match?.devices.length ?? 0;
          const body = {
            app_id: call.appId,
            locations: { cache: answers.records, match, zone, fields, view, marks, names },
            pagination: paginationOf(count, total, offset, limit),
          };
          return sendWithPlaces(call, answers.write(answer, body), marks);
        }),
      );
    };
  },
});
