import { afterEach, beforeEach, describe, expect } from "bun:test";
import {
  createReferenceRecords,
  type ReferenceRecords,
  type ReferenceReport,
} from "../../reference/records.ts";
import { RANDOM_SEED } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, findWrongAnswers, get, post, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { createPicker } from "../support/random.ts";
import { lastPage, randomQueries } from "../support/random-queries.ts";
import { type ScarceDisk, scarceDiskKinds } from "../support/scarce-disk.ts";

/*
 * Goal: a full disk costs new reports and nothing else, and the server goes on by itself once there is room.
 * Method: the real process on a disk that is filled up under it, in memory where a test may mount one; every answer
 * compared with one computed by plain loops over what was acknowledged.
 */

const MS_PER_DAY = 86_400_000;
const POSTS_MAX = 200; // Until the last page of the open file is full, or there is room again.
const QUERIES_OF_EACH = 3;
const SERVE_FLAGS = ["--seal-every", "1s"];
const OLD_DAYS = [9, 20];

const kinds = scarceDiskKinds();
if (kinds.length === 0) console.warn("Left out: the full disk, which needs root or prlimit.");
else console.log(`A full disk is ${kinds.map(({ name }) => name).join(", and ")}.`);

for (const kind of kinds) {
  // What becomes of an error of the disk does not depend on the runtime; which error it is, does: Deno has the first.
  for (const runtime of kind === kinds[0] ? RUNTIMES : RUNTIMES.filter(({ name }) => name === "Bun")) {
    describe(`on ${runtime.name}, with ${kind.name}`, () => {
      const pick = createPicker(seededRandom(RANDOM_SEED + runtime.name.length));
      let disk: ScarceDisk;
      let server: ServerProcess;
      let client: Client;
      let fleet: ReferenceRecords;
      let number = 0;

      beforeEach(async () => {
        disk = kind.open(runtime);
        server = await startReady(disk.runtime, disk.place, SERVE_FLAGS);
        client = { url: server.url, key: readFirstKey(disk.place) };
        fleet = createReferenceRecords("default");
      });
      afterEach(() => disk.close());

      test("reports get a 503 that says why, questions are answered, and reports are taken again", async () => {
        for (let batch = 0; batch < 5; batch++) await keep(reportsOf(100, 0));
        disk.fill(server.pid);
        const refused = await postUntil(503);
        expect(refused.headers.get("retry-after")).toBe("10");
        const message = "the disk is full: no reports are taken until there is room";
        expect(await refused.json()).toEqual({ success: false, message });
        await server.says(/Reports are refused, the disk is full/);
        for (let again = 0; again < 3; again++)
          expect((await post(client, reportsOf(100, 0))).status).toBe(503);
        await expectRightAnswers();
        expect((await fetch(`${server.url}/health`)).status).toBe(200);
        expect((await get(client, "/api/v1/locations/current")).status).toBe(200);

        disk.free(server.pid);
        await keep(reportsOf(100, 0));
        await expectRightAnswers();
        await expectWholeAfterKill();
      });

      test("a seal fails cleanly, nothing of the days is missing, and a later one goes through", async () => {
        for (const day of OLD_DAYS) await keep(reportsOf(200, day));
        await server.says(/Archived /);
        // What is posted now is due at once: it is late, or its day is more than a week past.
        for (const day of [...OLD_DAYS, 30]) await keep(reportsOf(50, day));
        disk.fill(server.pid);
        await postUntil(503);
        await server.says(/Sealing failed. Nothing is lost/);
        await expectRightAnswers();

        const failedBefore = sealsFailed();
        const archivedBefore = archivedLines();
        disk.free(server.pid);
        await until(() => archivedLines() > archivedBefore);
        expect(sealsFailed() - failedBefore).toBeLessThan(3); // One may have begun before there was room.
        await keep(reportsOf(50, OLD_DAYS[0]!));
        await expectRightAnswers();
        await expectWholeAfterKill();
      });

      // The other limits a process that runs.
      if (kind.name === "a small disk")
        test("a server that starts on a full disk answers queries, and takes reports once there is room", async () => {
          await keep(reportsOf(100, 0));
          expect((await server.stop()).code).toBe(0);
          disk.fill(server.pid);
          server = await startReady(disk.runtime, disk.place, SERVE_FLAGS);
          client = { ...client, url: server.url };
          await expectRightAnswers();
          expect((await post(client, reportsOf(1, 0))).status).toBe(503);
          disk.free(server.pid);
          await keep(reportsOf(100, 0));
          await expectRightAnswers();
          await expectWholeAfterKill();
        });

      /** Posts what must be taken. */
      async function keep(reports: readonly ReferenceReport[]): Promise<void> {
        await store(client, reports);
        fleet.report(reports);
      }

      /** Each answer is the one that is waited for, or an acknowledgement that is kept to. */
      async function postUntil(status: number): Promise<Response> {
        for (let posts = 0; posts < POSTS_MAX; posts++) {
          const reports = reportsOf(20, 0);
          const response = await post(client, reports);
          if (response.status === status) return response;
          expect(response.status).toBe(200);
          fleet.report(reports);
        }
        throw new Error(`No ${status} in ${POSTS_MAX} answers.`);
      }

      function reportsOf(count: number, daysAgo: number): readonly ReferenceReport[] {
        return Array.from({ length: count }, () => ({
          device_id: `bus-${number % 40}`,
          timestamp: Date.now() - daysAgo * MS_PER_DAY - number++,
          latitude: pick.decimal(42.1, 42.6, 6),
          longitude: pick.decimal(-71.4, -70.8, 6),
          user_id: "driver-1",
          speed: pick.decimal(0, 40, 1),
        }));
      }

      async function expectRightAnswers(): Promise<void> {
        const queries = randomQueries(fleet, createReferenceRecords("nobody"), pick, QUERIES_OF_EACH);
        expect(await findWrongAnswers(client, fleet, [...queries, lastPage(fleet, Date.now())])).toEqual([]);
      }

      async function expectWholeAfterKill(): Promise<void> {
        server.kill("SIGKILL");
        await server.ended;
        server = await startReady(disk.runtime, disk.place, SERVE_FLAGS);
        client = { ...client, url: server.url };
        await expectRightAnswers();
        expect((await server.stop()).code).toBe(0);
        expect((await runCommand(disk.runtime, disk.place, ["verify"])).code).toBe(0);
      }

      const archivedLines = () => server.error.match(/Archived /g)?.length ?? 0;
      const sealsFailed = () => server.error.match(/Sealing failed/g)?.length ?? 0;
    });
  }
}
