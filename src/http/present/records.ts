import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { LocalTimeFormatter } from "../../time/local-time.ts";
import type { RecordEncoder } from "./record-encoder.ts";

const COMMA = 0x2c;

/** Writes all records of some pages as one JSON array. */
export function writeRecords(
  json: JsonWriter,
  encoder: RecordEncoder,
  appId: AppId,
  pages: readonly RecordPage[],
  localTime: LocalTimeFormatter | null,
): void {
  json.text("[");
  let isFirst = true;
  for (const page of pages) {
    for (let row = 0; row < page.count; row++) {
      if (!isFirst) json.byte(COMMA);
      isFirst = false;
      encoder.write(json, appId, page, row, localTime);
    }
  }
  json.text("]");
}
