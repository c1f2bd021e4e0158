import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { profileMembers } from "../../../model/device-profile.ts";
import { createListDevices, type ListedDevice } from "../../../service/queries/list-devices.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { optionalText } from "../../parameters/kinds.ts";
import { EXAMPLE_REPORT, field } from "../../shapes/record-schemas.ts";
import {
  always,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  instant,
  list,
  object,
  optional,
  pageAsked,
  pageCounts,
  plain,
  type Schema,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";
import { EXAMPLE_PROFILE, PROFILE_MEMBERS } from "./profile-shapes.ts";

function member<Value>(name: string) {
  return optional(plain<Value>(PROFILE_MEMBERS[name] as Schema));
}

const device = object(
  {
    device_id: field("device_id"),
    last_seen: optional(instant("Latest fix time, Unix milliseconds; absent if there is none.")),
    name: member<string>("name"),
    color: member<string>("color"),
    icon: member<string>("icon"),
    tags: member<readonly string[]>("tags"),
    metadata: member<Readonly<Record<string, unknown>>>("metadata"),
  },
  "A device with its profile; members that the profile lacks are absent.",
);

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  devices: list(device),
  pagination: object({ ...pageCounts, total_count: count("Devices before paging."), ...pageAsked }),
});

export const listDevices = queryEndpoint({
  operationId: "getDevices",
  tag: "App",
  summary: "The devices of the app, with their profiles",
  description: "Devices that have reported within the retention, or have a profile. Ordered by device_id.",
  path: "/api/v1/devices",
  inPath: {},
  query: {
    text: optionalText("Only devices whose id or name contains this text, in upper or lower case."),
    tag: optionalText("Only devices with this tag."),
    limit,
    offset,
  },
  wrongQuery: "limit=0",
  answer: {
    name: "Devices",
    description: "One page of the devices.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      devices: [
        { device_id: EXAMPLE_REPORT.device_id, last_seen: EXAMPLE_REPORT.timestamp, ...EXAMPLE_PROFILE },
      ],
      pagination: { ...EXAMPLE_COUNTS, total_count: 1, ...EXAMPLE_ASKED },
    },
  },
  open(services) {
    const listAll = createListDevices(services);
    return (call, query) => {
      const { offset, limit } = query;
      return mapMaybe(listAll(call.appId, query, call.request), ({ devices, total }) => {
        const body: ValueOf<typeof answer> = {
          success: true,
          app_id: call.appId,
          devices: devices.map(presentDevice),
          pagination: {
            count: devices.length,
            has_more: offset + devices.length < total,
            total_count: total,
            offset,
            limit,
          },
        };
        return call.object(body, 200);
      });
    };
  },
});

function presentDevice({ deviceId, lastSeenMs, profile }: ListedDevice): ValueOf<typeof device> {
  return {
    device_id: deviceId,
    ...(lastSeenMs === null ? {} : { last_seen: lastSeenMs }),
    ...(profile === null ? {} : profileMembers(profile)),
  };
}
