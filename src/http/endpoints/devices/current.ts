import { sendWithPlaces, withPlaces } from "../../encode/place-marks.ts";
import { RecordNames } from "../../encode/record-names.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { names, places, timezone } from "../../parameters/common.ts";
import { fieldsOf } from "../../parameters/fields.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT, exampleRecord } from "../../shapes/record-schemas.ts";
import { shownRecord } from "../../shapes/records.ts";
import { always, envelope, text } from "../../shapes/shape.ts";

const answer = envelope({
  success: always(true),
  device_id: text("The requested device."),
  location: shownRecord,
});

export const deviceCurrent = queryEndpoint({
  operationId: "getDeviceCurrentLocation",
  tag: "Devices",
  summary: "Latest position of a device",
  description: "The position with the greatest timestamp, regardless of when it arrived.",
  path: "/api/v1/devices/:deviceId/locations/current",
  isForViews: true,
  inPath: { deviceId },
  query: { timezone, places, fields: fieldsOf("deviceCurrent"), names },
  wrongQuery: "timezone=UTC&timezone=GMT",
  answer: {
    name: "DeviceCurrent",
    description: "The position.",
    shape: answer,
    example: {
      success: true,
      device_id: EXAMPLE_REPORT.device_id,
      location: exampleRecord("deviceCurrent"),
    },
  },
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  open({ current, answers, loadPlaces, hot }) {
    return (call, { deviceId, timezone: zone, places, fields, names: withNames }) =>
      withPlaces(places ? loadPlaces() : null, (marks) => {
        const { view } = call;
        const names = withNames ? new RecordNames(hot.profiles, call.appId) : null;
        const match = current.ofDevice(call.appId, deviceId, view);
        if (!match.ok) return call.fail(match.error);
        const location = { cache: answers.records, match: match.value, zone, fields, view, marks, names };
        const written = answers.write(answer, { device_id: deviceId, location });
        return sendWithPlaces(call, written, marks);
      });
  },
});
