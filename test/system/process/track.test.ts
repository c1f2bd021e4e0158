import { afterEach, beforeEach, describe, expect } from "bun:test";
import { metersToLine } from "../../service/track/plain-distance.ts";
import { closePlace, openPlace, type Place, RUNTIMES } from "../../support/server-process.ts";
import { BUS, busReports, rangeOf, serveArchived } from "../support/archived-bus.ts";
import { get } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the program that users start answers where a bus went, from the archive, from memory and from late reports
 * alike.
 * Method: the real process and the real `seal`; answers compared with all reports.
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
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("a bus went where it reported to be, within the tolerance", async () => {
      const all = busReports();
      const { server, client } = await serveArchived(runtime, place, all);
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
      await server.stop();
    });
  });
}
