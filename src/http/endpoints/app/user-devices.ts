import type { UserId } from "../../../model/ids.ts";
import { NUMBER_FIELDS, numberIndex, profileIndex, stateIndex } from "../../../model/location-fields.ts";
import type { RecordPage } from "../../../model/record-page.ts";
import { MS_PER_SECOND } from "../../../model/time/units.ts";
import { createUserDevices } from "../../../service/queries/user-devices.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { flag, numberParameter } from "../../parameters/kinds.ts";
import { userId } from "../../parameters/path-parameter.ts";
import { EXAMPLE_REPORT, field } from "../../shapes/record-schemas.ts";
import { count, object, optional, plain, ref, text, type ValueOf } from "../../shapes/shape.ts";

const moment = { type: "integer", format: "int64", description: "Unix milliseconds." };

const summary = object(
  {
    device_id: field("device_id"),
    last_seen: plain<number>({ ...moment, description: "Latest fix time, Unix milliseconds." }),
    last_location: object({
      latitude: field("latitude"),
      longitude: field("longitude"),
      timestamp: plain<number>(moment),
    }),
    battery_level: optional(field("battery_level")),
    battery_status: optional(field("battery_status")),
    network_status: optional(field("network_status")),
    model: optional(field("model")),
    os_version: optional(field("os_version")),
  },
  "A device with its latest position; members that its report lacked are absent.",
);

/** Written piece by piece, so the count comes last. */
const answer = object({
  user_id: text("The requested user."),
  device_count: count("Items in the array."),
  devices: plain({ type: "array", items: ref("schemas", "DeviceSummary") }),
});

export const userDevices = queryEndpoint({
  operationId: "getUserDevices",
  tag: "Users",
  summary: "Devices of a user",
  description: "The devices whose latest report names the user, ordered by device_id.",
  path: "/api/v1/users/:user_id/devices",
  inPath: { user_id: userId },
  query: {
    active_only: flag("Lists only devices with a location newer than max_age.", "boolean"),
    max_age: numberParameter(
      "integer",
      { description: "The age up to which a device is active, in seconds.", minimum: 0 },
      86_400,
    ),
  },
  wrongQuery: "active_only=yes",
  answer: {
    name: "UserDevices",
    description: "The devices.",
    shape: answer,
    example: {
      user_id: EXAMPLE_REPORT.user_id,
      device_count: 1,
      devices: [
        {
          device_id: EXAMPLE_REPORT.device_id,
          last_seen: EXAMPLE_REPORT.timestamp,
          last_location: {
            latitude: EXAMPLE_REPORT.latitude,
            longitude: EXAMPLE_REPORT.longitude,
            timestamp: EXAMPLE_REPORT.timestamp,
          },
          battery_level: EXAMPLE_REPORT.battery_level,
          battery_status: EXAMPLE_REPORT.battery_status,
          network_status: EXAMPLE_REPORT.network_status,
          model: EXAMPLE_REPORT.model,
          os_version: EXAMPLE_REPORT.os_version,
        },
      ],
    },
  },
  schemas: { DeviceSummary: summary.schema },
  open(services) {
    const userDevices = createUserDevices(services);
    return (call, { user_id, active_only, max_age }) => {
      const ageMsMax = active_only ? max_age * MS_PER_SECOND : null;
      return call.pieces(piecesOf(user_id, userDevices(call.appId, user_id, { ageMsMax })));
    };
  },
});

/** The device summaries of §2.2, written page by page, because there may be a million. */
function* piecesOf(userId: UserId, pages: Iterable<RecordPage>): Iterable<Uint8Array<ArrayBuffer>> {
  let text = `{"user_id":${JSON.stringify(userId)},"devices":[`;
  let count = 0;
  for (const page of pages) {
    for (let row = 0; row < page.count; row++) {
      text += `${count++ === 0 ? "" : ","}${JSON.stringify(summaryOf(page, row))}`;
    }
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(`${text}],"device_count":${count}}`);
}

const encoder = new TextEncoder();

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const BATTERY_LEVEL = numberIndex("battery_level");
const BATTERY_STATUS = stateIndex("battery_status");
const NETWORK_STATUS = stateIndex("network_status");
const MODEL = profileIndex("model");
const OS_VERSION = profileIndex("os_version");

function summaryOf(page: RecordPage, row: number): ValueOf<typeof summary> {
  const { dictionary } = page;
  const number = (index: number) => page.numbers[row * NUMBER_FIELDS.length + index]!;
  const batteryLevel = number(BATTERY_LEVEL);
  const networkStatus = dictionary.stateText(page.state[row]!, NETWORK_STATUS);
  return {
    device_id: page.deviceIds[row]!,
    last_seen: page.timestampMs[row]!,
    last_location: {
      latitude: number(LATITUDE),
      longitude: number(LONGITUDE),
      timestamp: page.timestampMs[row]!,
    },
    battery_level: Number.isNaN(batteryLevel) ? undefined : batteryLevel,
    battery_status: dictionary.stateText(page.state[row]!, BATTERY_STATUS) ?? undefined,
    network_status: networkStatus === null ? undefined : networkStatus === "true",
    model: dictionary.profileText(page.profile[row]!, MODEL) ?? undefined,
    os_version: dictionary.profileText(page.profile[row]!, OS_VERSION) ?? undefined,
  };
}
