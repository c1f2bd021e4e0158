import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { type Client, get, store } from "../../runtime/support/client.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { csvRows } from "../../support/test-data.ts";
import { obviousStops } from "./obvious-stops.ts";

/*
 * Goal: the program that users start answers where a bus stopped, and with its numbers over time, from the archive,
 * from memory and from late reports alike.
 * Method: the real process and the real `seal`; answers compared with plain loops over the sample.
 */

setDefaultTimeout(60_000); // For machines that are slow, or busy.

const SAMPLE = join(import.meta.dir, "../../../data/samples/bus_liverpool_route14_20260126.csv.gz");
const BUS = "4836";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The bus's reports, some of them without bearing, beginning so many days ago at an hour of the UTC day. */
function reportsFrom(days: number) {
  const rows = csvRows(gunzipSync(readFileSync(SAMPLE)).toString()).filter(([id]) => id === BUS);
  const startMs = (Math.floor(Date.now() / DAY_MS) - days) * DAY_MS + 10 * HOUR_MS;
  return rows.map(([, timestamp, latitude, longitude, bearing]) => ({
    device_id: BUS,
    timestamp: startMs + Number(timestamp) - Number(rows[0]![1]),
    latitude: Number(latitude),
    longitude: Number(longitude),
    ...(bearing === "" ? {} : { bearing: Number(bearing) }),
  }));
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("a bus stopped where plain loops find that it did, and its peaks are where they are", async () => {
      const old = reportsFrom(12);
      const all = [...old, ...reportsFrom(2)];
      const isLate = (_: unknown, i: number) => i % 7 === 3;
      const first = await startReady(runtime, place);
      const key = readFirstKey(place);
      await store(
        { url: first.url, key },
        all.filter((report, i) => !isLate(report, i)),
      );
      await first.stop();
      expect((await runCommand(runtime, place, ["seal"])).out).toStartWith("Archived ");
      const second = await startReady(runtime, place);
      const client: Client = { url: second.url, key };
      await store(client, all.filter(isLate));

      const range = `start=${old[0]!.timestamp}&end=${all.at(-1)!.timestamp + 1}`;
      const stops = (await (await get(client, `/api/v1/devices/${BUS}/stops?${range}`)).json()) as object;
      const positions = all.map(({ timestamp, ...at }) => ({ ...at, timestampMs: timestamp }));
      const expected = obviousStops(positions, { durationMsMin: 300_000, radiusMeters: 100 });
      expect(expected).toHaveLength(2);
      expect(stops).toMatchObject({ success: true, stops: expected });

      const asked = `/api/v1/devices/${BUS}/series?${range}&fields=bearing&buckets=1`;
      const series = (await (await get(client, asked)).json()) as object;
      const bearings = all.map(({ bearing }) => bearing).filter((bearing) => bearing !== undefined);
      expect(series).toEqual({
        success: true,
        device_id: BUS,
        timestamp: [all.at(-1)!.timestamp],
        bearing_min: [Math.min(...bearings)],
        bearing_max: [Math.max(...bearings)],
        bearing_last: [bearings.at(-1)!],
      });
      await second.stop();
    });
  });
}
