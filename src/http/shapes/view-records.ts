import type { View } from "../../auth/view.ts";
import { CLOSE_BRACKET, COMMA, OPEN_BRACKET } from "../../lib/text/ascii.ts";
import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { GridPoint } from "../../model/geo/grid.ts";
import { type LocationField, NUMBER_FIELDS, type ResponseKind } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Zone } from "../../model/time/zone.ts";
import type { DevicesFound } from "../../service/queries/current.ts";
import { localTimeFormatterOf } from "../encode/local-time-formatters.ts";
import { recordRef } from "./record-schemas.ts";
import { type NewestRecordsFound, newestRecord, newestRecords } from "./records.ts";
import type { Schema } from "./schema.ts";
import type { Shape } from "./shape.ts";

/** Records as share links show them: no user, no id (it holds the time), nothing of the phone. */

/** Newest records of devices, for keys that may read and for share links. */
export interface ShownRecordsFound extends NewestRecordsFound {
  /** What a share link shows; null for everything. */
  readonly view: View | null;
}

/** The newest record of the one device that was found. */
export const shownRecord: Shape<ShownRecordsFound & { readonly found: DevicesFound }> = {
  schema: orOfView("deviceCurrent"),
  write(json, shown) {
    if (shown.view === null) newestRecord.write(json, shown);
    else writeRecords(json, shown, shown.view);
  },
};

/** The newest record of each device that was found. */
export const shownRecords: Shape<ShownRecordsFound> = {
  schema: { type: "array", items: orOfView("current") },
  write(json, shown) {
    if (shown.view === null) newestRecords.write(json, shown);
    else {
      json.byte(OPEN_BRACKET);
      writeRecords(json, shown, shown.view);
      json.byte(CLOSE_BRACKET);
    }
  },
};

function orOfView(kind: ResponseKind): Schema {
  return { oneOf: [recordRef(kind), recordRef("view")] };
}

/** With commas between. Places are those of the positions that are shown, and so tell nothing else. */
function writeRecords(json: JsonWriter, { found, zone, marks }: NewestRecordsFound, view: View): void {
  if (found === null) return;
  const { records, devices } = found;
  for (const [index, device] of devices.entries()) {
    if (index > 0) json.byte(COMMA);
    const record = viewRecord(view, records.pageOf(device), 0, zone);
    json.value(record);
    marks?.add(json.length - 1, record.latitude, record.longitude);
  }
}

/** Whether a view shows the field. How fast something moves would tell more than a cell and a minute. */
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
