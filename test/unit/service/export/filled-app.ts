import { type ArchiveApp, createArchiveApp } from "../../../support/archive-app.ts";

/** What tests of Parquet exports read. */

export const at = (day: number, hour = 3) => Date.UTC(2026, 0, day, hour);

export async function createFilledApp(): Promise<ArchiveApp> {
  const app = await createArchiveApp();
  const place = { latitude: 53.4094581, longitude: -2.977185 };
  await app.store(
    [14, 15, 27].map((day) => ({ ...place, device_id: "a", timestamp: at(day), speed: 0.1 * day })),
  );
  await app.seal();
  await app.store([
    { ...place, device_id: "b", timestamp: at(14), is_mock: true, user_id: "u" },
    { ...place, device_id: "a", timestamp: at(14), brand: 'q"uote', battery_level: 0 },
    { device_id: "\u{1F68C}", timestamp: at(28), latitude: -90, longitude: 180 },
  ]);
  return app;
}

/** OGC 06-103r4, in hex: little-endian, a point, and its coordinates. */
export function wellKnownPoint(longitude: number, latitude: number): string {
  const bytes = Buffer.alloc(21);
  bytes.writeUInt8(1, 0);
  bytes.writeUInt32LE(1, 1);
  bytes.writeDoubleLE(longitude, 5);
  bytes.writeDoubleLE(latitude, 13);
  return bytes.toString("hex");
}
