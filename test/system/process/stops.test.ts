import { afterEach, beforeEach, describe, expect } from "bun:test";
import { obviousStops } from "../../service/stops/obvious-stops.ts";
import { closePlace, openPlace, type Place, RUNTIMES } from "../../support/server-process.ts";
import { BUS, busReports, rangeOf, serveArchived } from "../support/archived-bus.ts";
import { get } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the program that users start answers where a bus stopped, and with its numbers over time, from the archive,
 * from memory and from late reports alike.
 * Method: the real process and the real `seal`; answers compared with plain loops over the sample.
 */

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("a bus stopped where plain loops find that it did, and its peaks are where they are", async () => {
      const all = busReports();
      const { server, client } = await serveArchived(runtime, place, all);
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
      await server.stop();
    });
  });
}
