import { afterAll, beforeAll, describe, expect } from "bun:test";
import { closePlace, openPlace, RUNTIMES } from "../../support/server-process.ts";
import { obviousStops } from "../../unit/service/queries/obvious-stops.ts";
import { metersToLine } from "../../unit/service/queries/track/plain-distance.ts";
import { BUS, busReports, rangeOf, serveArchived } from "../support/archived-bus.ts";
import { type Client, get } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the program that users start answers where a bus went and where it stopped, and with its numbers over time,
 * from the archive, from memory and from late reports alike.
 * Method: the real process and the real `seal`; answers compared with all reports, and with plain loops over them.
 */

interface Track {
  readonly total: number;
  readonly gaps: readonly number[];
  readonly timestamp: readonly number[];
  readonly latitude: readonly number[];
  readonly longitude: readonly number[];
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const place = openPlace();
    const all = busReports();
    let client: Client;
    beforeAll(async () => {
      ({ client } = await serveArchived(runtime, place, all));
    });
    afterAll(() => closePlace(place));

    test("a bus went where it reported to be, within the tolerance", async () => {
      const range = rangeOf(all);
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
    });

    test("a bus stopped where plain loops find that it did, and its peaks are where they are", async () => {
      const range = rangeOf(all);
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
    });
  });
}
