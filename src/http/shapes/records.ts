import { CLOSE_BRACKET, COMMA, OPEN_BRACKET } from "../../lib/text/ascii.ts";
import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Zone } from "../../model/time/zone.ts";
import type { DevicesFound } from "../../service/queries/current.ts";
import type { EncodedRecordCache } from "../encode/encoded-record-cache.ts";
import { localTimeFormatterOf } from "../encode/local-time-formatters.ts";
import type { PlaceMarks } from "../encode/place-marks.ts";
import { createRecordEncoder } from "../encode/record-encoder.ts";
import { recordRef } from "./record-schemas.ts";
import type { Shape } from "./shape.ts";

/** Location records in answers. They are bytes before they are anything else, so these shapes write themselves. */

/** Newest records of devices, which a cache knows as they are written. */
export interface NewestRecordsFound {
  readonly cache: EncodedRecordCache;
  /** Null for none. */
  readonly found: DevicesFound | null;
  /** Adds `local_time`, where it is not null. */
  readonly zone: Zone | null;
  /** Told where names of places belong, where it is not null. */
  readonly marks: PlaceMarks | null;
}

/** The newest record of the one device that was found, with its id. */
export const newestRecord: Shape<NewestRecordsFound & { readonly found: DevicesFound }> = {
  schema: recordRef("deviceCurrent"),
  write(json, { cache, found: { records, devices }, zone, marks }) {
    cache.writeRecord(json, records, devices[0]!, localTimeFormatterOf(zone), marks);
  },
};

/** The newest record of each device that was found. */
export const newestRecords: Shape<NewestRecordsFound> = {
  schema: { type: "array", items: recordRef("current") },
  write(json, { cache, found, zone, marks }) {
    json.byte(OPEN_BRACKET);
    if (found !== null) {
      const devices = new Uint32Array(found.devices);
      cache.writeRecords(json, found.records, devices, localTimeFormatterOf(zone), marks);
    }
    json.byte(CLOSE_BRACKET);
  },
};

/** Records of an app, page after page. */
export interface PagesOfRecords {
  readonly appId: AppId;
  readonly pages: readonly RecordPage[];
  readonly zone: Zone | null;
}

/** All records of some pages, as one kind of history shows them. */
export function historyRecords(kind: "userHistory" | "deviceHistory" | "appHistory"): Shape<PagesOfRecords> {
  const encoder = createRecordEncoder(kind);
  return {
    schema: { type: "array", items: recordRef(kind) },
    write(json: JsonWriter, { appId, pages, zone }: PagesOfRecords): void {
      const localTime = localTimeFormatterOf(zone);
      json.byte(OPEN_BRACKET);
      let isFirst = true;
      for (const page of pages) {
        for (let row = 0; row < page.count; row++) {
          if (!isFirst) json.byte(COMMA);
          isFirst = false;
          encoder.write(json, appId, page, row, localTime);
        }
      }
      json.byte(CLOSE_BRACKET);
    },
  };
}
