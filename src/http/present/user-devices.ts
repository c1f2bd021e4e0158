import type { UserId } from "../../model/ids.ts";
import { NUMBER_FIELDS, numberIndex, profileIndex, stateIndex } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const BATTERY_LEVEL = numberIndex("battery_level");
const BATTERY_STATUS = stateIndex("battery_status");
const NETWORK_STATUS = stateIndex("network_status");
const MODEL = profileIndex("model");
const OS_VERSION = profileIndex("os_version");

/**
 * The device summaries of §2.2, one for each device's newest record, a page after the other: there may be a million.
 * Members without a value are left out.
 */
export function* presentUserDevices(
  userId: UserId,
  pages: Iterable<RecordPage>,
): Iterable<Uint8Array<ArrayBuffer>> {
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

function summaryOf(page: RecordPage, row: number) {
  const { dictionary } = page;
  const number = (field: number) => page.numbers[row * NUMBER_FIELDS.length + field]!;
  const batteryLevel = number(BATTERY_LEVEL);
  const networkStatus = dictionary.stateText(page.state[row]!, NETWORK_STATUS);
  return {
    device_id: page.deviceIds[row],
    last_seen: page.timestampMs[row],
    last_location: {
      latitude: number(LATITUDE),
      longitude: number(LONGITUDE),
      timestamp: page.timestampMs[row],
    },
    battery_level: Number.isNaN(batteryLevel) ? undefined : batteryLevel,
    battery_status: dictionary.stateText(page.state[row]!, BATTERY_STATUS) ?? undefined,
    network_status: networkStatus === null ? undefined : networkStatus === "true",
    model: dictionary.profileText(page.profile[row]!, MODEL) ?? undefined,
    os_version: dictionary.profileText(page.profile[row]!, OS_VERSION) ?? undefined,
  };
}
