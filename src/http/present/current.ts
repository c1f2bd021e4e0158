import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { AppCurrentAnswer, AppCurrentQuery, DevicesFound } from "../../service/current.ts";
import { createLocalTimeFormatter, type LocalTimeFormatter } from "../../time/local-time.ts";
import type { Zone } from "../../time/zone.ts";
import { beginAnswer, recordTexts } from "./answer.ts";

const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const COMMA = 0x2c;

export function presentDeviceCurrent({ records, devices }: DevicesFound, zone: Zone | null) {
  const json = beginAnswer();
  const device = devices[0]!;
  json.text('{"success":true,"device_id":');
  json.value(records.deviceId(device));
  json.text(',"location":');
  recordTexts.writeRecord(json, records, device, formatterOf(zone), true);
  json.text("}");
  return json.written();
}

export function presentUserCurrent(userId: UserId, found: DevicesFound | null, zone: Zone | null) {
  const json = beginAnswer();
  json.text('{"success":true,"user_id":');
  json.value(userId);
  json.text(`,"device_count":${found?.devices.length ?? 0},"locations":`);
  writeNewest(json, found, formatterOf(zone));
  json.text("}");
  return json.written();
}

export function presentAppCurrent(
  appId: AppId,
  { found, total }: AppCurrentAnswer,
  { offset, limit }: AppCurrentQuery,
  zone: Zone | null,
) {
  const json = beginAnswer();
  json.text('{"success":true,"app_id":');
  json.value(appId);
  json.text(',"locations":');
  writeNewest(json, found, formatterOf(zone));
  json.text(',"pagination":');
  const count = found?.devices.length ?? 0;
  json.value({ count, has_more: offset + count < total, total_count: total, offset, limit });
  json.text("}");
  return json.written();
}

function writeNewest(
  json: JsonWriter,
  found: DevicesFound | null,
  localTime: LocalTimeFormatter | null,
): void {
  json.byte(BRACKET_OPEN);
  found?.devices.forEach((device, index) => {
    if (index > 0) json.byte(COMMA);
    recordTexts.writeRecord(json, found.records, device, localTime);
  });
  json.byte(BRACKET_CLOSE);
}

/** Writes `local_time` for a zone; null where none was asked for. */
export function formatterOf(zone: Zone | null): LocalTimeFormatter | null {
  if (zone === null) return null;
  let formatter = formatters.get(zone);
  if (formatter === undefined) {
    formatter = createLocalTimeFormatter(zone);
    formatters.set(zone, formatter);
  }
  return formatter;
}

/** They remember the day and the offset they wrote last, which mostly serves the next answer too. */
const formatters = new WeakMap<Zone, LocalTimeFormatter>();
