import { afterEach, beforeEach, describe, expect } from "bun:test";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { readProcessFigures } from "../soak/support/process-figures.ts";
import { get, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the program that users start finds its places, with no more permissions than it is said to need, and they take
 * no more memory than they may.
 * Method: the real process, asked by many at once who all are the first.
 */

const ASKED_AT_ONCE = 80;
const MEGABYTES_MAX = 60;

function residentMb({ pid }: ServerProcess): number {
  return readProcessFigures(pid).residentBytes / 1024 ** 2;
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("names of places are there for all who ask first, within 60 MB", async () => {
      const server = await startReady(runtime, place);
      const client = { url: server.url, key: readFirstKey(place) };
      const report = { device_id: "bus", timestamp: Date.now(), latitude: 53.4175, longitude: -2.97794 };
      await store(client, [report]);
      const ask = (query: string) =>
        Promise.all(
          Array.from({ length: ASKED_AT_ONCE }, async () => {
            const answer = await get(client, `/api/v1/devices/bus/locations/current?${query}`);
            return (await answer.json()) as { location?: { place?: unknown } };
          }),
        );
      for (const { location } of await ask("")) expect(location).toMatchObject({ latitude: report.latitude });
      const startMb = residentMb(server);
      const expected = { name: "Liverpool", country: "GB", distance_miles: 0.4781, bearing_degrees: 0 };
      for (const { location } of await ask("places=true")) expect(location?.place).toEqual(expected);
      expect(residentMb(server) - startMb).toBeLessThan(MEGABYTES_MAX);
      await server.stop();
    });
  });
}
