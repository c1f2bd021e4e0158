import { MS_PER_SECOND } from "../../../model/time/units.ts";
import { sendWithPlaces, withPlaces } from "../../encode/place-marks.ts";
import { RecordNames } from "../../encode/record-names.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { accuracyBounds, limit, names, places, timezone } from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { optionalNumber } from "../../parameters/kinds.ts";
import { userId } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT, exampleRecord } from "../../shapes/record-schemas.ts";
import { newestRecords } from "../../shapes/records.ts";
import { always, count, envelope, text } from "../../shapes/shape.ts";

const answer = envelope({
  success: always(true),
  user_id: text("The requested user."),
  device_count: count("Items in the array."),
  locations: newestRecords,
});

export const userCurrent = queryEndpoint({
  operationId: "getUserCurrentLocations",
  tag: "Users",
  summary: "Latest position of each device of a user",
  description: "The devices whose latest report names the user, ordered by device_id.",
  path: "/api/v1/users/:user_id/locations/current",
  inPath: { user_id: userId },
  query: {
    max_age: optionalNumber("integer", {
      description: "Omits locations older than this many seconds.",
      minimum: 0,
    }),
    accuracy: optionalNumber("integer", accuracyBounds),
    limit,
    timezone,
    places,
    fields: fieldsOf("current"),
    names,
  },
  wrongQuery: "limit=0",
  answer: {
    name: "UserCurrent",
    description: "The positions.",
    shape: answer,
    example: {
      success: true,
      user_id: EXAMPLE_REPORT.user_id,
      device_count: 1,
      locations: [exampleRecord("current")],
    },
  },
  open({ current, answers, loadPlaces, hot }) {
    return (
      call,
      { user_id, max_age, accuracy, limit, timezone: zone, places, fields, names: withNames },
    ) => {
      const ageMsMax = max_age === null ? null : max_age * MS_PER_SECOND;
      const query = { ageMsMax, accuracyMetersMax: accuracy, limit };
      const names = withNames ? new RecordNames(hot.profiles, call.appId) : null;
      return withPlaces(places ? loadPlaces() : null, (marks) =>
        current.ofUser(call.appId, user_id, query, call.request, (match) => {
          const locations = { cache: answers.records, match, zone, fields, marks, names };
          const body = { user_id, device_count: match?.devices.length ?? 0, locations };
          return sendWithPlaces(call, answers.write(answer, body), marks);
        }),
      );
    };
  },
});
