import type { AppId, UserId } from "../../model/ids.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { AppCurrentAnswer, AppCurrentQuery } from "../../service/current.ts";
import { createLocalTimeFormatter } from "../../time/local-time.ts";
import type { Zone } from "../../time/zone.ts";
import { createRecordEncoder } from "./record-encoder.ts";
import { answerWriter as json, writeRecords } from "./records.ts";

const encoder = createRecordEncoder("current");
const deviceEncoder = createRecordEncoder("deviceCurrent");

export function presentDeviceCurrent(appId: AppId, page: RecordPage, zone: Zone | null) {
  json.clear();
  json.text('{"success":true,"device_id":');
  json.value(page.deviceIds[0]);
  json.text(',"location":');
  deviceEncoder.write(json, appId, page, 0, formatterOf(zone));
  json.text("}");
  return json.written();
}

export function presentUserCurrent(appId: AppId, userId: UserId, page: RecordPage, zone: Zone | null) {
  json.clear();
  json.text('{"success":true,"user_id":');
  json.value(userId);
  json.text(`,"device_count":${page.count},"locations":`);
  writeRecords(json, encoder, appId, [page], formatterOf(zone));
  json.text("}");
  return json.written();
}

export function presentAppCurrent(
  appId: AppId,
  { page, total }: AppCurrentAnswer,
  { offset, limit }: AppCurrentQuery,
  zone: Zone | null,
) {
  json.clear();
  json.text('{"success":true,"app_id":');
  json.value(appId);
  json.text(',"locations":');
  writeRecords(json, encoder, appId, [page], formatterOf(zone));
  json.text(',"pagination":');
  const hasMore = offset + page.count < total;
  json.value({ count: page.count, has_more: hasMore, total_count: total, offset, limit });
  json.text("}");
  return json.written();
}

/** Writes `local_time` for a zone; null where none was asked for. */
export function formatterOf(zone: Zone | null) {
  return zone === null ? null : createLocalTimeFormatter(zone);
}
