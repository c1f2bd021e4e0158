import fc from "fast-check";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../../reference/records.ts";
import type { Report } from "../../../support/reports/batches.ts";

const FROM_MS = Date.UTC(2026, 0, 14, 12); // Sealed days before the clocks of tests.

const row = fc
  .record({
    device_id: fc.constantFrom("a", "b"),
    second: fc.nat(4),
    latitude: fc.nat(2),
    horizontal_accuracy: fc.constantFrom(undefined, 3, 4, 5),
    battery_level: fc.constantFrom(undefined, undefined, 50, 60),
  })
  .map(({ second, ...fields }): Report => {
    const carried = Object.entries(fields).filter(([, value]) => value !== undefined);
    const own = Object.fromEntries(carried) as Pick<Report, "device_id" | "latitude">;
    return { timestamp: FROM_MS + second * 1000, longitude: 5, ...own };
  });

/** Files with repeats, and with fixes that win and lose against those of their instants. */
export const IMPORTED_BATCHES = fc.array(fc.array(row, { minLength: 1, maxLength: 12 }), { maxLength: 5 });

/** Lays rows over the records, by device and time, and counts what became of them. */
export function countsOver(records: Map<string, ReferenceRecord>, rows: readonly Report[]) {
  const counts = { created: 0, sameTime: 0, alreadyThere: 0 };
  for (const report of rows) {
    const key = `${report.device_id} ${report.timestamp}`;
    const before = records.get(key) ?? null;
    const after = laidOver(before, { ...report } as unknown as ReferenceReport);
    records.set(key, after);
    if (before === null) counts.created++;
    else if (before.latitude === report.latitude && Bun.deepEquals(before, after)) counts.alreadyThere++;
    else counts.sameTime++;
  }
  return counts;
}
