import { findWatch } from "../../../service/geofences/find-watches.ts";
import { DeviceStates } from "../../../service/watching/device-states.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import {
  always,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  list,
  object,
  optional,
  pageAsked,
  pageCounts,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";
import { geofenceId, MISSING_FENCE } from "./shapes.ts";

const answer = object({
  success: always(true),
  devices: list(
    object({
      device_id: text("The device."),
      entered_at: optional(count("When it entered, Unix ms. Absent if no event began the visit.")),
    }),
  ),
  pagination: object({ ...pageCounts, ...pageAsked }),
});

export const geofenceDevices = queryEndpoint({
  operationId: "getGeofenceDevices",
  tag: "Geofences",
  summary: "Devices inside a geofence",
  description: "Those that are inside now, by their ids.",
  path: "/api/v1/geofences/:geofenceId/devices",
  inPath: { geofenceId },
  query: { limit, offset },
  wrongQuery: "limit=0",
  answer: {
    name: "GeofenceDevices",
    description: "One page of the devices.",
    shape: answer,
    example: {
      success: true,
      devices: [{ device_id: String(EXAMPLE_REPORT.device_id), entered_at: 1_773_964_800_000 }],
      pagination: { ...EXAMPLE_COUNTS, ...EXAMPLE_ASKED },
    },
  },
  failures: { 404: MISSING_FENCE },
  open({ hot, events }) {
    return (call, { geofenceId, limit, offset }) => {
      if (findWatch(hot.watches.find(call.appId), "fence", geofenceId) === null)
        return call.fail({ kind: "fence_not_found" });
      const states = new DeviceStates(events().database);
      const devices = states.inside(call.appId, geofenceId, offset, limit + 1);
      const page = devices.slice(0, limit);
      const body: ValueOf<typeof answer> = {
        success: true,
        devices: page.map(({ deviceId, enteredMs }) => ({
          device_id: deviceId,
          ...(enteredMs === null ? {} : { entered_at: enteredMs }),
        })),
        pagination: { count: page.length, has_more: devices.length > limit, offset, limit },
      };
      return call.object(body, 200);
    };
  },
});
