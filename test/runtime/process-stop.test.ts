import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { seededRandom } from "../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../support/server-process.ts";
import { type Client, store } from "./support/client.ts";
import { createBatches, findReported, keyOf, postWhileItLasts } from "./support/load.ts";
import type { PlainReport } from "./support/plain-fleet.ts";
import { createPicker } from "./support/random.ts";
import { beginUpload, type SlowUpload } from "./support/slow-upload.ts";

/*
 * Goal: who stops the server loses nothing, and no client that it took in waits in vain.
 * Method: the real process under load from several clients, and uploads that are half way when the signal comes.
 */

setDefaultTimeout(60_000);

const STOP_MS_MAX = 5000;
const DEVICES = ["a", "b", "c"];
const STOP_AFTER = 40; // Batches acknowledged.

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const pick = createPicker(seededRandom(runtime.name.length));
    let place: Place;
    let server: ServerProcess;
    let client: Client;

    beforeEach(async () => {
      place = openPlace();
      server = await startReady(runtime, place);
      client = { url: server.url, key: readFirstKey(place) };
    });
    afterEach(() => closePlace(place));

    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      test(`${signal} under load: everything accepted is answered, everything answered is kept`, async () => {
        const slow = await Promise.all([1, 2, 3].map((number) => beginUpload(client, slowReport(number))));
        let signalledMs = 0;
        const nextBatch = createBatches(pick, DEVICES, Date.now());
        const batches = await postWhileItLasts(client, pick, nextBatch, (acknowledged) => {
          if (acknowledged !== STOP_AFTER) return; // By now the slow ones have long been taken in.
          signalledMs = performance.now();
          server.kill(signal);
        });
        // The clients above were refused, so the server is stopping, and waits for the slow ones.
        for (const upload of slow) upload.finish();
        const answers = await Promise.all(slow.map(({ answer }) => answer));
        for (const answer of answers) {
          expect(answer).toStartWith("HTTP/1.1 200 ");
          expect(answer).toContain('"accepted":1,');
        }
        expect((await server.ended).code).toBe(0);
        expect(performance.now() - signalledMs).toBeLessThan(STOP_MS_MAX);

        server = await startReady(runtime, place);
        const slowBatch = { reports: [1, 2, 3].map(slowReport), state: "acknowledged" } as const;
        const found = await findReported({ ...client, url: server.url }, [...batches, slowBatch]);
        const kept = [...batches, slowBatch].filter(({ state }) => state === "acknowledged");
        // As many as were acknowledged and the very same: what was taken in and not answered would be one too many.
        const keptKeys = kept.flatMap(({ reports }) => reports.map(keyOf));
        expect([...found.keys()].sort()).toEqual(keptKeys.sort());
      });
    }

    test("a client that never finishes keeps the server for less than 5 s", async () => {
      const stuck: SlowUpload = await beginUpload(client, slowReport(1));
      await store(client, [slowReport(2)]); // Answered after the other has arrived.
      const signalledMs = performance.now();
      server.kill("SIGTERM");
      expect((await server.ended).code).toBe(0);
      expect(performance.now() - signalledMs).toBeLessThan(STOP_MS_MAX);
      expect(await stuck.answer).not.toStartWith("HTTP/1.1 200");
    });
  });
}

const startedMs = Date.now();

function slowReport(number: number): PlainReport {
  return { device_id: "slow", timestamp: startedMs - number, latitude: 1, longitude: 2 };
}
