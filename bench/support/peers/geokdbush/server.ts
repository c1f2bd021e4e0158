/**
 * A minimal server: the newest record of each device in a Map, and a k-d tree of all of them that is rebuilt each
 * second. It accepts `POST` of `{"locations":[...]}`, and answers nearby queries.
 */

import { around, distance } from "geokdbush";
import KDBush from "kdbush";
import type { FullReport } from "../../fleets/fleet.ts";

const REBUILD_MS = 1000;
const KM_PER_MILE = 1.609344;

const records = new Map<string, FullReport>();
let isChanged = false;
let indexed: readonly FullReport[] = [];
let index = new KDBush(0);
index.finish();

setInterval(() => {
  if (!isChanged) return;
  isChanged = false;
  indexed = [...records.values()];
  index = new KDBush(indexed.length);
  for (const { longitude, latitude } of indexed) index.add(Number(longitude), Number(latitude));
  index.finish();
}, REBUILD_MS);

export const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    if (request.method === "GET") return Response.json(nearby(new URL(request.url).searchParams));
    const { locations } = (await request.json()) as { locations: readonly FullReport[] };
    for (const report of locations) records.set(String(report.device_id), report);
    isChanged = true;
    return Response.json({ accepted: locations.length });
  },
});
console.log(`http://127.0.0.1:${server.port}`);

function nearby(query: URLSearchParams) {
  const [latitude, longitude, miles, limit, oldestMs] = [
    ...["latitude", "longitude", "radius_miles", "limit", "oldest"],
  ].map((name) => Number(query.get(name))) as [number, number, number, number, number];
  const isWhole = query.get("each") === "record";
  const isYoung = (place: number) => Number(indexed[place]!.timestamp) >= oldestMs;
  const found = around(index, longitude, latitude, limit, miles * KM_PER_MILE, isYoung);
  return {
    results: found.map((place) => {
      const location = indexed[place]!;
      const km = distance(longitude, latitude, Number(location.longitude), Number(location.latitude));
      const item = { device_id: location.device_id, distance_miles: km / KM_PER_MILE };
      return isWhole ? { ...item, location } : item;
    }),
  };
}
