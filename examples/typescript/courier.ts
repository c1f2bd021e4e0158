/**
 * A courier on the Liverpool waterfront reports where it is; then we ask where it is, where it was, and who is near.
 *
 *   WHEREHOUSE_KEY=wh_... npm run --silent example -- [DEVICE]
 */
import { answerOf, createWherehouse } from "./client.ts";

const { WHEREHOUSE_URL = "http://127.0.0.1:3000", WHEREHOUSE_KEY } = process.env;
const deviceId = process.argv[2] ?? "courier-1";
const MINUTE_MS = 60_000;

if (WHEREHOUSE_KEY === undefined) throw new Error("WHEREHOUSE_KEY must hold a key that may read and write");
const wherehouse = createWherehouse(WHEREHOUSE_URL, WHEREHOUSE_KEY);

const nowMs = Date.now();
const positions = [
  { timestamp: nowMs - 2 * MINUTE_MS, latitude: 53.401, longitude: -2.9942 },
  { timestamp: nowMs - MINUTE_MS, latitude: 53.4024, longitude: -2.9951 },
  { timestamp: nowMs, latitude: 53.4039, longitude: -2.996 },
];
const locations = positions.map((position) => ({ device_id: deviceId, speed: 4.2, ...position }));
const stored = answerOf(await wherehouse.POST("/ingest/v1/locations", { body: { locations } }));
console.log(`${stored.accepted} reports accepted`);
// The status is 200 even where reports were rejected: each one stands alone.
for (const { index, message } of stored.rejected) console.error(`Report ${index} was rejected: ${message}`);

const path = { deviceId };
const current = answerOf(
  await wherehouse.GET("/api/v1/devices/{deviceId}/locations/current", { params: { path } }),
);
console.log(`${deviceId} is at ${current.location.latitude}, ${current.location.longitude}`);

/** All records since a UTC day, page after page until none follows. A limit of 2 is only to see it happen. */
async function* history(start_date: string) {
  for (let offset = 0, hasMore = true; hasMore; ) {
    const query = { start_date, offset, limit: 2 };
    const page = answerOf(
      await wherehouse.GET("/api/v1/devices/{deviceId}/locations/history", { params: { path, query } }),
    );
    yield* page.locations;
    offset += page.pagination.count;
    hasMore = page.pagination.has_more;
  }
}

const startDate = new Date(positions[0]!.timestamp).toISOString().slice(0, "YYYY-MM-DD".length);
for await (const { timestamp, latitude, longitude } of history(startDate)) {
  console.log(`${new Date(timestamp).toISOString()} it was at ${latitude}, ${longitude}`);
}

const query = { latitude: 53.404, longitude: -2.996, radius_miles: 0.5 };
const nearby = answerOf(await wherehouse.GET("/api/v1/devices/nearby", { params: { query } }));
for (const { device_id, distance_miles } of nearby.results) {
  console.log(`${device_id} is ${distance_miles} miles from the ferry`);
}
