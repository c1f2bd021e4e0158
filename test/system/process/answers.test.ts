import { afterAll, beforeAll, describe, expect } from "bun:test";
import { execFile, execFileSync } from "node:child_process";
import { readdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import {
  createReferenceRecords,
  type ReferenceRecords,
  type ReferenceReport,
} from "../../reference/records.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  type ServerProcess,
  startReady,
  startServing,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { BODY_FORMATS, type Client, findWrongAnswers, get, store } from "../support/client.ts";
import { createBatches, findReported, postWhileItLasts, settle } from "../support/load.ts";
import { phoneReports } from "../support/phone-reports.ts";
import { test } from "../support/process-test.ts";
import { createPicker } from "../support/random.ts";
import { lastPage, randomQueries } from "../support/random-queries.ts";
import { bostonTrack, firstRowsOf, vesselReports } from "../support/track.ts";

/*
 * Goal: the program that users start answers as the files say, also after it was killed again and again.
 * Method: the real process, driven over HTTP; every answer compared whole with one computed by plain loops over
 * the reports that it was given. What was measured, and ids, are checked for what they must be.
 */

const MS_PER_DAY = 86_400_000;
/** Of the Boston day; `npm run soak` imports the whole of it. */
const ROWS = { Bun: 100_000, Deno: 20_000 };
/** Queries of each of eight endpoints. How they are answered does not depend on the runtime. */
const QUERIES_OF_EACH = { Bun: randomRuns(12), Deno: randomRuns(2) };
const QUERIES_AFTER_KILL = { Bun: randomRuns(4), Deno: randomRuns(2) };
const KILLS = 1; // `npm run soak` takes hundreds.

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const pick = createPicker(seededRandom(RANDOM_SEED + runtime.name.length));
    const fleet = createReferenceRecords("default");
    const others = createReferenceRecords("other");
    let place: Place;
    let server: ServerProcess;
    let key = "";
    let otherKey = "";
    const client = (): Client => ({ url: server.url, key });
    const otherClient = (): Client => ({ url: server.url, key: otherKey });

    beforeAll(() => {
      place = openPlace();
    });
    afterAll(() => closePlace(place));

    test("import and keys create make a directory that serve starts from", async () => {
      const whole = bostonTrack(place.directory);
      const { path, reports } = firstRowsOf(whole, ROWS[runtime.name], place.directory);
      const imported = await runCommand(
        runtime,
        place,
        ["import", path, "--app", "default", "--shift-to-now"],
        [path],
      );
      expect(imported.code).toBe(0);
      const count = reports.length.toLocaleString("en");
      expect(imported.out).toContain(`${count} read   ${count} new   0 already there   0 skipped`);
      [key, otherKey] = [await createKey("default"), await createKey("other")];

      server = await startReady(runtime, place);
      const ready = await fetch(`${server.url}/ready`);
      expect([ready.status, await ready.json()]).toMatchObject([200, { status: "ready", damaged: 0 }]);
      fleet.report(shifted(reports, await shiftOf(reports)));
      expect(server.error).toContain(`with ${fleet.records().length.toLocaleString("en")} records`);
    });

    test("answers are those of plain loops over the file", async () => {
      await expectRightAnswers(QUERIES_OF_EACH[runtime.name]);
    });

    test("reports over HTTP are added, and no app sees another's", async () => {
      const known = fleet.records();
      const reports = phoneReports(pick, 600, known, Date.now());
      for (let from = 0; from < reports.length; from += 40) {
        const batch = reports.slice(from, from + 40);
        await store(client(), batch, pick.item(BODY_FORMATS));
        fleet.report(batch);
      }
      const vessels = vesselReports();
      const moved = shifted(vessels, planShiftMs(vessels, Date.now()));
      // Devices, and some of their very records, that the first app has too: other positions of its own.
      const doubles = Array.from({ length: 300 }, () => ({
        ...pick.item(known),
        ...{ latitude: pick.decimal(-90, 90, 5), longitude: pick.decimal(-180, 180, 5) },
      }));
      const own = [...moved, ...doubles, ...phoneReports(pick, 200, [...moved, ...doubles], Date.now())];
      await store(otherClient(), own, "ndjson.gz");
      others.report(own);
      await expectRightAnswers(QUERIES_OF_EACH[runtime.name]);
    });

    for (let round = 1; round <= KILLS; round++) {
      test(`after kill -9 no. ${round}, all that was acknowledged is there, and nothing else`, async () => {
        const deviceIds = [...Array.from({ length: 40 }, (_, i) => `load-${round}-${i}`)];
        deviceIds.push(...Array.from({ length: 8 }, () => pick.item(fleet.deviceIds())));
        const nextBatch = createBatches(pick, deviceIds, Date.now());
        const killAt = pick.integer(5, 80);
        const batches = await postWhileItLasts(client(), pick, nextBatch, (acknowledged) => {
          if (acknowledged === killAt) server.kill("SIGKILL");
        });
        await server.ended;

        server = await startReady(runtime, place);
        const lost = settle(fleet, batches, await findReported(client(), batches));
        expect(lost).toEqual([]);
        // As clients do, those who heard nothing send again: what survived counts as a duplicate.
        for (const { reports } of batches.filter(({ state }) => state !== "acknowledged")) {
          const before = fleet.records().length;
          const accepted = await store(client(), reports);
          fleet.report(reports);
          expect(accepted).toBe(fleet.records().length - before);
        }
        await expectRightAnswers(QUERIES_AFTER_KILL[runtime.name]);
      });
    }

    test("verify finds no damage, and a stop cuts nothing short", async () => {
      const report = await runCommand(runtime, place, ["verify", "--json"]);
      expect(JSON.parse(report.out)).toMatchObject({ owner: { pid: server.pid }, problems: [] });
      expect(report.code).toBe(0);
      const { code, error } = await server.stop();
      expect([code, error.includes("stop_cut_short")]).toEqual([0, false]);
    });

    test("while the log is replayed, /health answers, /ready says how far, and questions wait", async () => {
      const log = join(place.dataDir, "wal");
      // The second segment becomes a pipe: the server has to wait for it, however fast it is.
      const [, second] = readdirSync(log).sort();
      const [path, saved] = [join(log, second!), join(place.directory, "second.wal")];
      renameSync(path, saved);
      execFileSync("mkfifo", [path]);

      server = await startServing(runtime, place);
      const progress = await untilReplaying(server);
      expect(progress.replayed).toBeLessThanOrEqual(progress.total);
      expect(await (await fetch(`${server.url}/health`)).json()).toMatchObject({ status: "ok" });
      const refused = await get(client(), "/api/v1/locations/current");
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);

      await promisify(execFile)("cp", [saved, path]);
      await server.says(/Ready after/);
      await expectRightAnswers(1);
      await server.stop();
    });

    async function createKey(app: string): Promise<string> {
      const permissions = ["--permission", "read", "--permission", "write"];
      const made = await runCommand(runtime, place, [
        ...["keys", "create", "--app", app, "--tier", "unlimited"],
        ...permissions,
      ]);
      return made.out.trim();
    }

    /** Whole days, which the import chose by its own clock: one of two, if a day passed meanwhile. */
    async function shiftOf(reports: readonly ReferenceReport[]): Promise<number> {
      const shiftMs = planShiftMs(reports, Date.now());
      const newest = reports.at(-1)!;
      const seen = await get(client(), `/api/v1/devices/${newest.device_id}/locations/current`);
      const { location } = (await seen.json()) as { location: { timestamp: number } };
      const imported = location.timestamp - newest.timestamp;
      expect([shiftMs, shiftMs - MS_PER_DAY]).toContain(imported);
      return imported;
    }

    async function expectRightAnswers(countOfEach: number): Promise<void> {
      const asked: [Client, ReferenceRecords, ReferenceRecords][] = [[client(), fleet, others]];
      if (others.records().length > 0) asked.push([otherClient(), others, fleet]);
      for (const [asker, own, foreign] of asked) {
        const queries = randomQueries(own, foreign, pick, countOfEach);
        queries.push(lastPage(own, Date.now()));
        expect(await findWrongAnswers(asker, own, queries)).toEqual([]);
      }
    }
  });
}

function shifted(reports: readonly ReferenceReport[], shiftMs: number): readonly ReferenceReport[] {
  return reports.map((report) => ({ ...report, timestamp: report.timestamp + shiftMs }));
}

/** By whole days, so that the newest lies within the last 24 hours. */
function planShiftMs(reports: readonly ReferenceReport[], nowMs: number): number {
  const newestMs = reports.reduce((newest, { timestamp }) => Math.max(newest, timestamp), 0);
  return Math.floor((nowMs - newestMs) / MS_PER_DAY) * MS_PER_DAY;
}

/** Waits until the server has replayed something, and is not ready. */
async function untilReplaying({ url }: ServerProcess): Promise<{ replayed: number; total: number }> {
  let progress = { replayed: 0, total: 0 };
  await until(async () => {
    const response = await fetch(`${url}/ready`);
    const { status, ...rest } = (await response.json()) as typeof progress & { status: string };
    expect([response.status, status]).toEqual([503, "starting"]);
    progress = rest;
    return progress.replayed > 0;
  });
  return progress;
}
