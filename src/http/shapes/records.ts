import type { View } from "../../auth/view.ts";
import { CLOSE_BRACKET, COMMA, OPEN_BRACKET } from "../../lib/text/ascii.ts";
import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { FieldChoice } from "../../model/field-choice.ts";
import type { GridPoint } from "../../model/geo/grid.ts";
import type { AppId } from "../../model/ids.ts";
import { type LocationField, NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { localTimeFormatterOf } from "../../model/time/local-time.ts";
import type { Zone } from "../../model/time/zone.ts";
import type { DeviceMatches } from "../../service/queries/current.ts";
import type { EncodedRecordCache } from "../encode/answer-buffer.ts";
import type { PlaceMarks } from "../encode/place-marks.ts";
import { RecordEncoders } from "../encode/record-encoder.ts";
import type { RecordNames } from "../encode/record-names.ts";
import { anyRecord } from "./record-schemas.ts";
import type { Shape } from "./shape.ts";

/* Location records in answers, for keys that may read and for share links. They write themselves, directly as bytes. */

/** Newest records of devices, with the cache of their encoded form. */
export interface NewestRecordsAnswer {
  readonly cache: EncodedRecordCache;
  readonly match: DeviceMatches | null;
  /** Adds `local_time` unless it is null. */
  readonly zone: Zone | null;
  readonly fields: FieldChoice;
  /** Collects where names of places belong, unless it is null. */
  readonly marks: PlaceMarks | null;
  /** Adds names of devices unless it is null. */
  readonly names: RecordNames | null;
}

const newestRecord: Shape<NewestRecordsAnswer & { readonly match: DeviceMatches }> = {
  schema: anyRecord("deviceCurrent"),
  write(json, { cache, match: { records, devices }, zone, ...extras }) {
    cache.writeRecord(json, records, devices[0]!, { ...extras, localTime: localTimeFormatterOf(zone) });
  },
};

export const newestRecords: Shape<NewestRecordsAnswer> = {
  schema: { type: "array", items: anyRecord("current") },
  write(json, { cache, match, zone, ...extras }) {
    json.byte(OPEN_BRACKET);
    if (match !== null) {
      const devices = new Uint32Array(match.devices);
      cache.writeRecords(json, match.records, devices, {
        ...extras,
        localTime: localTimeFormatterOf(zone),
      });
    }
    json.byte(CLOSE_BRACKET);
  },
};

export interface PagesOfRecords {
  readonly appId: AppId;
  readonly pages: readonly RecordPage[];
  readonly zone: Zone | null;
  readonly fields: FieldChoice;
}

/** All records of some pages, in the form of one kind of history. */
export function historyRecords(kind: "userHistory" | "deviceHistory" | "appHistory"): Shape<PagesOfRecords> {
  const encoders = new RecordEncoders(kind);
  return {
    schema: { type: "array", items: anyRecord(kind) },
    write(json: JsonWriter, { appId, pages, zone, fields }: PagesOfRecords): void {
      const encoder = encoders.of(fields);
      const localTime = localTimeFormatterOf(zone);
      json.byte(OPEN_BRACKET);
      let isFirst = true;
      for (const page of pages) {
        if (page.count === 0) continue;
        if (!isFirst) json.byte(COMMA);
        isFirst = false;
        encoder.writePage(json, appId, page, localTime);
      }
      json.byte(CLOSE_BRACKET);
    },
  };
}

/**
 * Newest records of devices. Share links show no user, no id (which contains the time), and nothing about the phone.
 */
export interface ShownRecordsAnswer extends NewestRecordsAnswer {
  /** The share link's view; null for everything. */
  readonly view: View | null;
}

export const shownRecord: Shape<ShownRecordsAnswer & { readonly match: DeviceMatches }> = {
  schema: anyRecord("deviceCurrent", "view"),
  write(json, shown) {
    if (shown.view === null) newestRecord.write(json, shown);
    else writeRecords(json, shown, shown.view);
  },
};

export const shownRecords: Shape<ShownRecordsAnswer> = {
  schema: { type: "array", items: anyRecord("current", "view") },
  write(json, shown) {
    if (shown.view === null) newestRecords.write(json, shown);
    else {
      json.byte(OPEN_BRACKET);
      writeRecords(json, shown, shown.view);
      json.byte(CLOSE_BRACKET);
    }
  },
};

/** Writes commas between records. Places are those of the blurred positions, so they reveal nothing else. */
function writeRecords(
  json: JsonWriter,
  { match, zone, fields, marks, names }: NewestRecordsAnswer,
  view: View,
): void {
  if (match === null) return;
  const { records, devices } = match;
  for (const [index, device] of devices.entries()) {
    if (index > 0) json.byte(COMMA);
    const record = viewRecord(view, records.pageOf(device), 0, zone);
    const chosen = fields.isWhole ? record : chosenOf(record, fields);
    const name = names?.of(records.deviceId(device)) ?? null;
    json.value(name === null ? chosen : { ...chosen, name });
    marks?.add(json.length - 1, record.latitude, record.longitude);
  }
}

/** Without the fields that are not chosen. What is no field, such as `local_time`, stays. */
function chosenOf(record: Readonly<Record<string, unknown>>, fields: FieldChoice): object {
  const isHidden = (name: string) =>
    NUMBER_FIELDS.some((field) => field.name === name && !fields.shows(field));
  return Object.fromEntries(Object.entries(record).filter(([name]) => !isHidden(name)));
}

/** Whether a view shows the field. A blurred view hides speeds, which would tell more than a cell and a minute. */
export function viewShows(view: View, { responses, required = false }: LocationField): boolean {
  return responses.includes("view") && (required || view.isExact);
}

/** A record of a page, as a JSON object; a zone adds `local_time`. */
export function viewRecord(
  view: View,
  { deviceIds, timestampMs, numbers }: RecordPage,
  row: number,
  zone: Zone | null,
): Readonly<Record<string, unknown>> & GridPoint {
  const timestamp = view.timeOf(timestampMs[row]!);
  const values = numbers.subarray(row * NUMBER_FIELDS.length, (row + 1) * NUMBER_FIELDS.length);
  const [latitude, longitude] = values;
  const point = view.pointOf(latitude!, longitude!);
  const record: Record<string, unknown> & GridPoint = { device_id: deviceIds[row]!, timestamp, ...point };
  NUMBER_FIELDS.forEach((field, index) => {
    const value = values[index]!;
    if (!(field.name in record) && !Number.isNaN(value) && viewShows(view, field)) record[field.name] = value;
  });
  const localTime = localTimeFormatterOf(zone);
  if (localTime !== null) record.local_time = localTime.text(timestamp);
  return record;
}
