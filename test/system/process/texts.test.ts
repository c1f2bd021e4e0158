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
import { until } from "../../support/until.ts";
import { readProcessFigures } from "../soak/support/process-figures.ts";
import { test, testOnBunAlone } from "../support/process-test.ts";

/*
 * Goal: what no record shows any more takes no memory, however much of it was sent, also after a restart.
 * Method: the real process; one record that is sent again and again with fresh texts, and its resident memory. Runtimes
 * give memory back in their own time, so it is waited for: what is kept for ever never comes back.
 */

const FIELDS = ["user_id", "brand", "model", "os", "os_version", "sdk_version", "app_version_name", "type"];
const TEXT_CHARACTERS = 120;
const REPORTS_A_BATCH = 1000;
const BATCHES = 90; // 86 MB of texts, which took 340 MB when they were kept.
const GROWTH_MB_MAX = 170;

function residentMb({ pid }: ServerProcess): number {
  return readProcessFigures(pid).residentBytes / 1024 ** 2;
}

const LARGE_BODIES = 40;
const LARGE_BODY_BYTES = 8_000_000;

/** Reports of one instant of one device, no text of which was ever sent before. */
function freshBatch(batch: number, timestamp: number): string {
  const locations = Array.from({ length: REPORTS_A_BATCH }, (_, row) => ({
    device_id: "one",
    timestamp,
    latitude: 1,
    longitude: 1,
    ...Object.fromEntries(
      FIELDS.map((name, field) => [name, `${batch}-${row}-${field}`.padEnd(TEXT_CHARACTERS, "x")]),
    ),
  }));
  return JSON.stringify({ locations });
}

/** Asks meanwhile: a runtime that has nothing to do does not collect. */
function untilSettled(server: ServerProcess, startMb: number): Promise<void> {
  return until(async () => {
    await (await fetch(`${server.url}/health`)).text();
    return residentMb(server) - startMb < GROWTH_MB_MAX;
  });
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    // Which texts are kept is decided alike on both; what a piece of a body keeps alive is not.
    testOnBunAlone(runtime)(
      "one record that is sent again with fresh texts takes no more memory, also after a restart",
      async () => {
        const server = await startReady(runtime, place);
        const headers = {
          authorization: `Bearer ${readFirstKey(place)}`,
          "content-type": "application/json",
        };
        const startMb = residentMb(server);
        const timestamp = Date.now() - 60_000;
        for (let batch = 0; batch < BATCHES; batch++) {
          const body = freshBatch(batch, timestamp);
          const answer = await fetch(`${server.url}/ingest/v1/locations`, { method: "POST", headers, body });
          expect(((await answer.json()) as { accepted: number }).accepted).toBe(REPORTS_A_BATCH);
        }
        await untilSettled(server, startMb);
        await server.stop();

        const again = await startReady(runtime, place);
        await untilSettled(again, startMb);
        const answer = await fetch(`${again.url}/api/v1/locations/current`, { headers });
        const { pagination } = (await answer.json()) as { pagination: { total_count: number } };
        expect(pagination.total_count).toBe(1);
        expect((await again.stop()).code).toBe(0);
      },
    );

    test("a device's id and texts don't keep the large bodies that they came in", async () => {
      const server = await startReady(runtime, place);
      const authorization = `Bearer ${readFirstKey(place)}`;
      const startMb = residentMb(server);
      const ignored = "x".repeat(LARGE_BODY_BYTES);
      for (let n = 0; n < LARGE_BODIES; n++) {
        const [device_id, brand] = ["device", "brand"].map((name) =>
          `${name} ${n}`.padEnd(TEXT_CHARACTERS, "x"),
        );
        const report = { ignored, device_id, timestamp: Date.now(), latitude: 1, longitude: 1, brand };
        const type = n % 2 === 0 ? "application/json" : "application/x-ndjson";
        const answer = await fetch(`${server.url}/ingest/v1/locations`, {
          method: "POST",
          headers: { authorization, "content-type": type },
          body: JSON.stringify(report),
        });
        expect(((await answer.json()) as { accepted: number }).accepted).toBe(1);
      }
      await untilSettled(server, startMb);
      await server.stop();
    });
  });
}
