import { afterEach, beforeEach, describe, expect } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { ReferenceReport } from "../../reference/records.ts";
import { RANDOM_SEED } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, get, store } from "../support/client.ts";
import { createBatches, findReported, keyOf, postWhileItLasts } from "../support/load.ts";
import { test } from "../support/process-test.ts";
import { createPicker } from "../support/random.ts";
import { openRaw } from "../support/raw-connection.ts";
import { beginUpload, type SlowUpload } from "../support/slow-upload.ts";

/*
 * Goal: who stops the server loses nothing, and no client that it took in waits in vain.
 * Method: the real process under load from several clients, and uploads that are half way when the signal comes.
 */

const DEVICES = ["a", "b", "c"];
const STOP_AFTER = 40; // Batches acknowledged.

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const pick = createPicker(seededRandom(RANDOM_SEED + runtime.name.length));
    let place: Place;
    let server: ServerProcess;
    let client: Client;

    beforeEach(async () => {
      place = openPlace();
      server = await startReady(runtime, place);
      client = { url: server.url, key: readFirstKey(place) };
    });
    afterEach(() => closePlace(place));

    /** What takes more than its 4.5 s is left behind by the server, which says so. */
    async function expectWholeStop(): Promise<void> {
      const { code, error } = await server.ended;
      expect(code).toBe(0);
      expect(error).not.toContain("stop_cut_short");
      expect(error).not.toContain("Failed to answer");
    }

    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      test(`${signal} under load: everything accepted is answered, everything answered is kept`, async () => {
        const slow = await Promise.all([1, 2, 3].map((number) => beginUpload(client, slowReport(number))));
        const nextBatch = createBatches(pick, DEVICES, Date.now());
        const batches = await postWhileItLasts(client, pick, nextBatch, (acknowledged) => {
          if (acknowledged !== STOP_AFTER) return; // By now the slow ones have long been taken in.
          server.kill(signal);
        });
        // The clients above were refused, so the server is stopping, and waits for the slow ones.
        for (const upload of slow) upload.finish();
        const answers = await Promise.all(slow.map(({ answer }) => answer));
        for (const answer of answers) {
          expect(answer).toStartWith("HTTP/1.1 200 ");
          expect(answer).toContain('"accepted":1,');
        }
        await expectWholeStop();

        server = await startReady(runtime, place);
        const slowBatch = { reports: [1, 2, 3].map(slowReport), state: "acknowledged" } as const;
        const found = await findReported({ ...client, url: server.url }, [...batches, slowBatch]);
        const kept = [...batches, slowBatch].filter(({ state }) => state === "acknowledged");
        // As many as were acknowledged and the very same: what was taken in and not answered would be one too many.
        const keptKeys = kept.flatMap(({ reports }) => reports.map(keyOf));
        expect([...found.keys()].sort()).toEqual(keptKeys.sort());
      });
    }

    test("questions that were taken in are answered whole, with idle connections open and a seal running", async () => {
      await server.stop();
      const operatorKey = await createOperatorKey(runtime, place);
      server = await startReady(runtime, place, ["--seal-every", "1s"]);
      client = { ...client, url: server.url };
      const operator = { ...client, key: operatorKey };
      const old = oldReports(0);
      await store(client, old, "ndjson.zst");
      await server.says(/Archived /);
      const idle = await Promise.all(Array.from({ length: 50 }, () => openRaw(server.url)));
      for (const connection of idle) await connection.send(`GET /health HTTP/1.1\r\nHost: a\r\n\r\n`);
      await Promise.all(idle.map((connection) => connection.says(/uptime_seconds/)));

      await store(client, oldReports(1), "ndjson.zst");
      await untilSealing(place);
      const takenInBefore = await countTakenIn(operator);
      const questions = questionsOf(old);
      const asked = questions.map(async (path) => {
        const headers = { authorization: `Bearer ${client.key}`, "accept-encoding": "gzip" };
        const response = await fetch(`${client.url}${path}`, { headers });
        const body = (await response.json()) as { locations?: unknown[]; results?: unknown[] };
        const encoding = response.headers.get("content-encoding");
        return [response.status, encoding, (body.locations ?? body.results)?.length];
      });
      await until(async () => (await countTakenIn(operator)) >= takenInBefore + questions.length);
      server.kill("SIGTERM");
      for (const answer of await Promise.all(asked)) expect(answer).toEqual([200, "gzip", PAGE]);
      await expectWholeStop();
      expect((await runCommand(runtime, place, ["verify"])).code).toBe(0);
    });

    test("a client that never finishes is left in the time that a stop has", async () => {
      const stuck: SlowUpload = await beginUpload(client, slowReport(1));
      await store(client, [slowReport(2)]); // Answered after the other has arrived.
      server.kill("SIGTERM");
      await expectWholeStop();
      expect(await stuck.answer).not.toStartWith("HTTP/1.1 200");
    });
  });
}

const PAGE = 500;
const OLD_DAYS = [9, 10, 11, 40];
const OLD_DEVICES = 600;
const MS_PER_DAY = 86_400_000;

/** Of days that belong into the archive; another shift makes other records of the same days. */
function oldReports(shiftMs: number): readonly ReferenceReport[] {
  return OLD_DAYS.flatMap((days) =>
    Array.from({ length: OLD_DEVICES }, (_, device) => ({
      device_id: `old-${device}`,
      timestamp: startedMs - days * MS_PER_DAY + shiftMs,
      latitude: 42 + device / 10_000,
      longitude: -71,
    })),
  );
}

/** About archived days, about everybody, and about who is near: each has more to tell than a page. */
function questionsOf(reports: readonly ReferenceReport[]): readonly string[] {
  const date = (report: ReferenceReport) => new Date(report.timestamp).toISOString().slice(0, 10);
  const range = `start_date=${date(reports.at(-1)!)}&end_date=${date(reports[0]!)}`;
  const histories = [0, 1, 2, 3, 4, 5].map(
    (page) => `/api/v1/locations/history?${range}&limit=${PAGE}&offset=${page * 100}`,
  );
  const current = `/api/v1/locations/current?limit=${PAGE}`;
  const nearby = `/api/v1/devices/nearby?latitude=42&longitude=-71&max_age_hours=8760&radius_miles=50&limit=${PAGE}`;
  return [...histories, current, nearby];
}

/** Requests that the server has answered or is about to, without those that ask for it. */
async function countTakenIn(operator: Client): Promise<number> {
  const text = await (await get(operator, "/metrics")).text();
  const answered = text.matchAll(/^wherehouse_http_requests_total\{.*route="(?!\/metrics").*\} (\d+)$/gm);
  const inFlight = /^wherehouse_http_requests_in_flight (\d+)$/m.exec(text);
  return [...answered].reduce((sum, [, count]) => sum + Number(count), Number(inFlight![1]));
}

function untilSealing({ dataDir }: Place): Promise<void> {
  const scratch = join(dataDir, "archive/scratch");
  return until(() => existsSync(scratch) && readdirSync(scratch).length > 0);
}

const startedMs = Date.now();

function slowReport(number: number): ReferenceReport {
  return { device_id: "slow", timestamp: startedMs - number, latitude: 1, longitude: 2 };
}
