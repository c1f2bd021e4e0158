import { expect, test } from "bun:test";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Dictionary } from "../../../src/hot/records/dictionary.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { SharedPool } from "../../../src/lib/schedule/shared-pool.ts";
import { APP, batchOf } from "../../support/reports/batches.ts";

const BATCH = 500;
/** A column of four bytes a device that doubles makes one of 512 KB on the way. */
const DEVICES = 66_000;
/** Leaves of the index of positions share columns of at most 8192 rows, of four numbers each. */
const ARRAY_BYTES_MAX = 8192 * 4 * 8;
const NOW_MS = Date.UTC(2026, 2, 20, 12);
const TYPES = ["Uint8Array", "Uint16Array", "Uint32Array", "Int32Array", "Float64Array"] as const;

/** The most bytes of any one array that `work` makes. */
function largestArray(work: () => void): number {
  let largest = 0;
  const types = TYPES.map((name) => [name, globalThis[name]] as const);
  for (const [name, type] of types) {
    const noting = new Proxy(type, {
      construct(target, args, newTarget) {
        const made = Reflect.construct(target, args, newTarget) as InstanceType<typeof type>;
        largest = Math.max(largest, made.byteLength);
        return made;
      },
    });
    Object.defineProperty(globalThis, name, { value: noting, configurable: true, writable: true });
  }
  try {
    work();
  } finally {
    for (const [name, type] of types)
      Object.defineProperty(globalThis, name, { value: type, configurable: true, writable: true });
  }
  return largest;
}

test("a device more moves no more memory than a page of each table, however many there are", () => {
  // The ring of changes doubles too, but to a limit that does not depend on devices: here it is small.
  const room = { pool: new SharedPool(1 << 20), changesMax: 4096, nowMs: () => NOW_MS };
  const hot = createHotStore(new Scheduler(), new Dictionary(), room);
  hot.keepChanges(0);
  const batchFrom = (from: number) =>
    batchOf(
      Array.from({ length: BATCH }, (_, at) => ({
        device_id: `device-${from + at}`,
        user_id: `user-${from + at}`,
        timestamp: NOW_MS + from,
        latitude: 42 + ((from + at) % 1009) / 1009,
        longitude: -71 + ((from + at) % 997) / 997,
      })),
    );
  for (let from = 0; from < DEVICES; from += BATCH) {
    const batch = batchFrom(from);
    const largest = largestArray(() => hot.apply(APP, batch, from / BATCH + 1));
    expect(largest).toBeLessThanOrEqual(ARRAY_BYTES_MAX);
  }
  expect(hot.deviceCount).toBe(DEVICES);
});
