import { METERS_PER_MILE } from "../../geo/distance.ts";
import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { HistoryAnswer } from "../../service/history/history-answer.ts";
import type { HistoryQuery } from "../../service/history/history-query.ts";
import type { PathLength } from "../../service/history/path-meter.ts";
import type { TimeRange } from "../../time/range.ts";
import type { Zone } from "../../time/zone.ts";
import { beginAnswer } from "./answer.ts";
import { formatterOf } from "./current.ts";
import { createRecordEncoder } from "./record-encoder.ts";
import { writeRecords } from "./records.ts";

const BYTES_PER_MEGABYTE = 1_000_000;

const deviceEncoder = createRecordEncoder("deviceHistory");
const userEncoder = createRecordEncoder("userHistory");
const appEncoder = createRecordEncoder("appHistory");

/** What all three envelopes are made of, besides the answer. */
export interface HistoryFrame {
  readonly appId: AppId;
  readonly query: HistoryQuery;
  readonly zone: Zone | null;
  readonly elapsedMs: number;
}

export function presentDeviceHistory(deviceId: string, answer: HistoryAnswer, frame: HistoryFrame) {
  const json = beginAnswer();
  json.text('{"success":true,"device_id":');
  json.value(deviceId);
  json.text(',"locations":');
  writeRecords(json, deviceEncoder, frame.appId, answer.pages, formatterOf(frame.zone));
  if (answer.paths !== null) {
    json.text(',"distance_travelled":');
    json.value(lengthOf(totalMeters(answer.paths)));
  }
  json.text(',"pagination":');
  json.value(countOf(answer));
  json.text(',"query_info":');
  json.value(infoOf(answer, frame));
  json.text("}");
  return json.written();
}

export function presentUserHistory(userId: UserId, answer: HistoryAnswer, frame: HistoryFrame) {
  const json = beginUserHistory(userId, answer, frame);
  json.text(userHistoryEnd(answer, frame));
  return json.written();
}

/**
 * The same with the length of each device's path, piece by piece: a user may have a million devices. Records are
 * written at once, while their page is good.
 */
export function presentUserPaths(
  userId: UserId,
  answer: HistoryAnswer,
  paths: readonly PathLength[],
  frame: HistoryFrame,
): Iterable<Uint8Array<ArrayBuffer>> {
  const json = beginUserHistory(userId, answer, frame);
  const { meters, miles } = lengthOf(totalMeters(paths));
  json.text(`,"distance_travelled":{"meters":${meters},"miles":${miles},"by_device":{`);
  const start = json.written().slice(); // The next answer is written over it.
  return piecesOf(start, paths, `}}${userHistoryEnd(answer, frame)}`);
}

function* piecesOf(
  start: Uint8Array<ArrayBuffer>,
  paths: readonly PathLength[],
  end: string,
): Iterable<Uint8Array<ArrayBuffer>> {
  yield start;
  for (let first = 0; first < paths.length; first += PATHS_A_PIECE) {
    // Written by hand: an object would sort ids that look like numbers first, and lose `__proto__`.
    const texts = paths
      .slice(first, first + PATHS_A_PIECE)
      .map(([deviceId, meters]) => `${JSON.stringify(deviceId)}:${meters}`);
    yield encoder.encode(`${first === 0 ? "" : ","}${texts.join(",")}`);
  }
  yield encoder.encode(end);
}

const PATHS_A_PIECE = 1024;

const encoder = new TextEncoder();

function beginUserHistory(userId: UserId, answer: HistoryAnswer, frame: HistoryFrame): JsonWriter {
  const json = beginAnswer();
  json.text('{"user_id":');
  json.value(userId);
  json.text(',"locations":');
  writeRecords(json, userEncoder, frame.appId, answer.pages, formatterOf(frame.zone));
  return json;
}

function userHistoryEnd(answer: HistoryAnswer, frame: HistoryFrame): string {
  const { offset, limit } = frame.query;
  // Exact, but never below what an offset past the end claims.
  const totalEstimated = Math.max(answer.total ?? 0, offset + answer.count);
  const pagination = { ...countOf(answer), total_estimated: totalEstimated, offset, limit };
  const info = { ...infoOf(answer, frame), source: answer.source };
  return `,"pagination":${JSON.stringify(pagination)},"query_info":${JSON.stringify(info)}}`;
}

export function presentAppHistory(answer: HistoryAnswer, frame: HistoryFrame) {
  const json = beginAnswer();
  json.text('{"success":true,"app_id":');
  json.value(frame.appId);
  json.text(',"locations":');
  writeRecords(json, appEncoder, frame.appId, answer.pages, formatterOf(frame.zone));
  json.text(',"pagination":');
  json.value({ ...countOf(answer), total_devices: answer.devicesMatching });
  json.text(',"query_info":');
  json.value({ ...infoOf(answer, frame), devices_queried: answer.devicesQueried });
  json.text("}");
  return json.written();
}

/** Device history answers a wrong zone and an unknown device with its envelope, empty; §4.4 of the specification. */
export function emptyDeviceHistory(deviceId: string, start: string, end: string, message: string) {
  return {
    success: false,
    device_id: deviceId,
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: { time_range: { start, end }, data_scanned_mb: 0, query_time_ms: 0 },
    message,
  };
}

function countOf({ count, hasMore }: HistoryAnswer) {
  return { count, has_more: hasMore };
}

function infoOf({ bytesRead, isIncomplete }: HistoryAnswer, { query, elapsedMs }: HistoryFrame) {
  return {
    time_range: timeRangeOf(query.range),
    data_scanned_mb: bytesRead / BYTES_PER_MEGABYTE,
    query_time_ms: roundedMs(elapsedMs),
    ...(isIncomplete ? { incomplete: true } : {}),
  };
}

/** The wire's range ends with its last millisecond; ours with the one after. */
function timeRangeOf({ startMs, endMs }: TimeRange) {
  return { start: new Date(startMs).toISOString(), end: new Date(endMs - 1).toISOString() };
}

export function roundedMs(elapsedMs: number): number {
  return Math.round(elapsedMs * 1000) / 1000;
}

function totalMeters(paths: readonly PathLength[]): number {
  return paths.reduce((total, [, meters]) => total + meters, 0);
}

function lengthOf(meters: number) {
  return { meters, miles: meters / METERS_PER_MILE };
}
