import fc from "fast-check";
import { DeviceTable, type LiveRecord } from "../../../../src/web/devices/device-table.ts";

/** A device of a test; what its record doesn't have is unknown. */
export type Dot = Omit<LiveRecord, "device_id">;

/** Named by their rows. */
export function tableOf(dots: readonly Dot[]): DeviceTable {
  const table = new DeviceTable();
  table.fill({
    sequence: 0,
    device_id: dots.map((_, row) => String(row)),
    timestamp: dots.map((dot) => dot.timestamp),
    latitude: dots.map((dot) => dot.latitude),
    longitude: dots.map((dot) => dot.longitude),
    speed: dots.map((dot) => dot.speed ?? null),
    bearing: dots.map((dot) => dot.bearing ?? null),
  });
  return table;
}

/** Many of them within a few meters, and round ±180°. */
export const dots: fc.Arbitrary<Dot> = fc.record(
  {
    latitude: fc.oneof(
      fc.double({ min: -90, max: 90, noNaN: true }),
      fc.double({ min: 10, max: 10.001, noNaN: true }),
    ),
    longitude: fc.oneof(
      fc.double({ min: -180, max: 180, noNaN: true }),
      fc.double({ min: 179.999, max: 180, noNaN: true }),
      fc.double({ min: -180, max: -179.999, noNaN: true }),
    ),
    timestamp: fc.integer({ min: 0, max: 2_000_000_000_000 }),
    bearing: fc.double({ min: 0, max: 360, noNaN: true }),
    speed: fc.double({ min: 0, max: 40, noNaN: true }),
  },
  { requiredKeys: ["latitude", "longitude", "timestamp"] },
);
