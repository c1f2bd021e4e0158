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
import { metersToLine } from "./plain-distance.ts";

/*
 * Goal: the program that users start answers where a bus went, from the archive, from memory and from late reports
 * alike.
 * Method: the real process and the real `seal`; answers compared with all reports.
 */

setDefaultTimeout(60_000); // For machines that are slow, or busy.

const SAMPLE = join(import.meta.dir, "../../../data/samples/bus_liverpool_route14_20260126.csv.gz");
const BUS = "4836";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

interface Track {
  readonly total: number;
  readonly gaps: readonly number[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

/** The bus's reports, beginning so many days ago at an hour of the UTC day. */
function reportsFrom(days: number) {
  const rows = csvRows(gunzipSync(readFileSync(SAMPLE)).toString()).filter(([id]) => id === BUS);
  const startMs = (Math.floor(Date.now() / DAY_MS) - days) * DAY_MS + 10 * HOUR_MS;
  return rows.map(([, timestamp, latitude, longitude]) => ({
    device_id: BUS,
    timestamp: startMs + Number(timestamp) - Number(rows[0]![1]),
    latitude: Number(latitude),
    longitude: Number(longitude),
  }));
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("a bus went where it reported to be, within the tolerance", async () => {
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
      const ask = async (more: string): Promise<Track> =>
        (await (await get(client, `/api/v1/devices/${BUS}/track?${range}&${more}`)).json()) as Track;
      const whole = await ask("tolerance_meters=0");
      expect(whole.timestamp).toEqual(all.map(({ timestamp }) => timestamp));
      expect(whole.latitude).toEqual(all.map(({ latitude }) => latitude));
      expect(whole.longitude).toEqual(all.map(({ longitude }) => longitude));

      const line = await ask("tolerance_meters=25");
      expect(line.total).toBe(all.length);
      expect(line.timestamp.length).toBeLessThan(all.length / 3);
      expect(line.gaps).toHaveLength(whole.gaps.length);
      for (const { timestamp, latitude, longitude } of all) {
        const after = line.timestamp.findIndex((ms) => ms >= timestamp);
        const before = line.timestamp[after] === timestamp ? after : after - 1;
        expect(after === before || !line.gaps.includes(after)).toBe(true);
        const [from, to] = [before, after].map(
          (i) => [line.timestamp[i]!, line.latitude[i]!, line.longitude[i]!] as const,
        );
        expect(metersToLine(from!, to!, [timestamp, latitude, longitude])).toBeLessThanOrEqual(25.000001);
      }
      await second.stop();
    });
  });
}
