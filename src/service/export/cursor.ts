import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { RecordColumns } from "../../model/record-columns.ts";

/** The last record that was written: what tells it from the others of its app. */
export interface Cursor {
  readonly deviceId: string;
  readonly timestampMs: number;
}

/** Whether a record comes behind the cursor, in an order. */
export function isBehind(
  { deviceId, timestampMs }: Cursor,
  records: RecordColumns,
  row: number,
  order: "time" | "device",
): boolean {
  const laterMs = records.timestampMs[row]! - timestampMs;
  if (order === "time" && laterMs !== 0) return laterMs > 0;
  return (compareUtf8(records.deviceIds[row]!, deviceId) || laterMs) > 0;
}

export function cursorAt({ deviceIds, timestampMs }: RecordColumns, row: number): Cursor {
  return { deviceId: deviceIds[row]!, timestampMs: timestampMs[row]! };
}
