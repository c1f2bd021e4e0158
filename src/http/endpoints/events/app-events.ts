import { findDevice } from "../../../service/queries/find-device.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { missingDevice, UNKNOWN_DEVICE } from "../../openapi/responses.ts";
import { deviceId } from "../../parameters/path-parameter.ts";
import { createAnswerEvents } from "./answer-events.ts";
import { EVENTS_ANSWER, EVENTS_PAGING, eventsDevice, eventsQuery } from "./shapes.ts";

export const appEvents = queryEndpoint({
  ...EVENTS_ANSWER,
  operationId: "getEvents",
  summary: "Events of all geofences and alerts of the app",
  description: EVENTS_PAGING,
  path: "/api/v1/events",
  inPath: {},
  query: { ...eventsDevice, ...eventsQuery },
  open: createAnswerEvents,
});

export const deviceEvents = queryEndpoint({
  ...EVENTS_ANSWER,
  operationId: "getDeviceEvents",
  summary: "Events of a device",
  description: EVENTS_PAGING,
  path: "/api/v1/devices/:deviceId/events",
  inPath: { deviceId },
  query: eventsQuery,
  failures: { 404: missingDevice("DeviceError", UNKNOWN_DEVICE) },
  open(services) {
    const answerEvents = createAnswerEvents(services);
    return (call, { deviceId, ...values }) => {
      const device = findDevice(services, call.appId, deviceId);
      return answerEvents(call, values, { deviceId, missing: device.ok ? null : device.error });
    };
  },
});
