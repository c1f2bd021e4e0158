import { compareUtf8 } from "../../src/lib/text/utf8.ts";
import type { Report } from "./batches.ts";

type PlainRecord = Record<string, unknown> & { device_id: string; timestamp: number };

/** The obvious store: a map of plain objects. What the real one is compared with. */
export interface PlainStore {
  /** Lays a report over the store; true where that changed anything. */
  apply(report: Report): boolean;
  /** All records, by time and then by device. */
  records(): PlainRecord[];
  /** The newest record of each device, by device. */
  newest(): PlainRecord[];
}

export function createPlainStore(): PlainStore {
  const records = new Map<string, PlainRecord>();
  return {
    apply(report) {
      const carried = Object.fromEntries(
        Object.entries(report).filter(([, value]) => value !== null && value !== undefined),
      ) as PlainRecord;
      const key = `${carried.device_id} ${carried.timestamp}`;
      const before = records.get(key);
      const after = before === undefined ? { user_id: "ANONYMOUS", ...carried } : { ...before, ...carried };
      if (before !== undefined && Bun.deepEquals(before, after)) return false;
      records.set(key, after);
      return true;
    },
    records: () =>
      [...records.values()].sort(
        (a, b) => a.timestamp - b.timestamp || compareUtf8(a.device_id, b.device_id),
      ),
    newest() {
      const newest = new Map<string, PlainRecord>();
      for (const record of this.records()) newest.set(record.device_id, record);
      return [...newest.values()].sort((a, b) => compareUtf8(a.device_id, b.device_id));
    },
  };
}
