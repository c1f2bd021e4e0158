import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { RecordColumns } from "../../model/record-columns.ts";

/** The position of the last written record within its app. */
export interface Cursor {
  readonly deviceId: string;
  readonly timestampMs: number;
}

/** Whether a record comes after the cursor in an order. */
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
