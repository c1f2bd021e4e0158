import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createReferenceRecords, type ReferenceReport } from "../../reference/records.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  type ServerProcess,
  startCommand,
  startReady,
} from "../../support/server-process.ts";
import { csvRows } from "../../support/test-data.ts";
import { type Client, findWrongAnswers, get, store } from "../support/client.ts";
import { pause } from "../support/pause.ts";
import { phoneReports } from "../support/phone-reports.ts";
import { test } from "../support/process-test.ts";
import { createPicker } from "../support/random.ts";
import { lastPage, randomQueries } from "../support/random-queries.ts";

/*
 * Goal: the program answers about archived days as about those in memory, whatever ends it while it archives.
 * Method: the real process and the real `seal` command; every answer compared whole with one computed by plain
 * loops over the reports that it was given.
 */

const MS_PER_DAY = 86_400_000;
const SAMPLE = join(import.meta.dir, "../../../data/samples/bus_liverpool_route14_20260126.csv.gz");
/** Three days to archive, and one that stays in memory. */
const AGES_DAYS = [300, 100, 9, 1];
/** Queries of each of eight endpoints. How they are answered does not depend on the runtime. */
const QUERIES_OF_EACH = { Bun: randomRuns(12), Deno: randomRuns(3) };
/** How long after its start a seal gets a signal: before it begins, and on its way. */
const SIGNALS = {
  Bun: [
    ["SIGINT", 350],
    ["SIGKILL", 250],
    ["SIGKILL", 400],
    ["SIGKILL", 600],
  ],
  Deno: [
    ["SIGINT", 600],
    ["SIGKILL", 600],
  ],
} as const;
const DRIVER = "driver-1";

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const pick = createPicker(seededRandom(RANDOM_SEED + 30 + runtime.name.length));
    const fleet = createReferenceRecords("default");
    const nobody = createReferenceRecords("nobody");
    const buses = busReports(Date.now());
    let place: Place;
    let server: ServerProcess;
    let key = "";
    const client = (): Client => ({ url: server.url, key });

    beforeAll(() => {
      place = openPlace();
    });
    afterAll(() => closePlace(place));

    test("seal archives what is older than the window, and nothing twice", async () => {
      const path = join(place.directory, "buses.csv");
      const lines = buses.map((report) => CSV_NAMES.map((name) => report[name]).join(","));
      writeFileSync(path, `${CSV_NAMES.join(",")}\n${lines.join("\n")}\n`);
      const args = ["import", path, "--app", "default"];
      expect((await runCommand(runtime, place, args, [path])).code).toBe(0);
      fleet.report(buses);

      const sealed = await runCommand(runtime, place, ["seal"]);
      expect([sealed.code, sealed.error]).toEqual([0, ""]);
      const records = (buses.length * 3) / 4;
      expect(sealed.out).toStartWith(`Archived ${records.toLocaleString("en")} records of 3 days (`);
      expect(sealed.out).toMatch(/ kB in [\d.]+ s\.\n$/);
      const again = await runCommand(runtime, place, ["seal", "--json"]);
      expect([again.code, again.error]).toEqual([0, ""]);
      expect(JSON.parse(again.out)).toMatchObject({
        records: 0,
        days: [],
        parts: 0,
        blocked: [],
        expired: [],
      });
      await expectWhole(3, records);
    });

    test("answers about archived days are those of plain loops, and say where they come from", async () => {
      const created = await runCommand(runtime, place, [
        ...["keys", "create", "--app", "default", "--tier", "unlimited"],
        ...["--permission", "read", "--permission", "write"],
      ]);
      key = created.out.trim();
      server = await startReady(runtime, place);
      expect(server.error).toContain(" and 3 archived days.");
      await expectRightAnswers();
      expect(await Promise.all(AGES_DAYS.map(sourceOf))).toEqual(["archive", "archive", "archive", "hot"]);
    });

    test("seal beside a running server is refused by its name, and changes nothing", async () => {
      const refused = await runCommand(runtime, place, ["seal"]);
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(refused.error).toContain(
        `is in use by process ${server.pid} (serve), which listens at ${server.url}.`,
      );
      expect(refused.error).toContain("A running server seals by itself.\n");
    });

    test("late and replacing reports of archived days are there at once, and after kill -9", async () => {
      const known = fleet.records();
      for (let batch = 0; batch < 6; batch++) {
        const reports = phoneReports(pick, 60, known, Date.now());
        await store(client(), reports);
        fleet.report(reports);
      }
      await expectRightAnswers();
      expect(await sourceOf(300)).toBe("hot+archive");
      server.kill("SIGKILL");
      await server.ended;
      server = await startReady(runtime, place);
      await expectRightAnswers();
      await server.stop();
    });

    test("a seal that is interrupted or killed changes no answer, and the next one goes through", async () => {
      for (const [signal, afterMs] of SIGNALS[runtime.name]) {
        const seal = startCommand(runtime, place, ["seal"]);
        await pause(afterMs);
        seal.kill(signal);
        const { code, error } = await seal.ended;
        // It may have been quicker than the signal, or slower to listen for it: then the signal itself ended it.
        if (signal === "SIGINT" && code === 1) expect(error).toContain("Nothing is lost");
        await expectWhole();
      }
      expect((await runCommand(runtime, place, ["seal"])).code).toBe(0);
      await expectWhole();
      server = await startReady(runtime, place);
      await expectRightAnswers();
      expect(await sourceOf(300)).toBe("archive");
      const { code, error } = await server.stop();
      expect(code).toBe(0);
      expect(error).not.toContain("Failed to answer");
    });

    async function expectRightAnswers(): Promise<void> {
      const queries = randomQueries(fleet, nobody, pick, QUERIES_OF_EACH[runtime.name]);
      expect(await findWrongAnswers(client(), fleet, [...queries, lastPage(fleet, Date.now())])).toEqual([]);
    }

    /** What the history of a user on a day long ago says of its source. */
    async function sourceOf(ageDays: number): Promise<string> {
      const { timestamp } = buses.find((report) => dayOf(report) === dayOf(buses[0]!) + (300 - ageDays))!;
      const date = new Date(timestamp).toISOString().slice(0, 10);
      const path = `/api/v1/users/${DRIVER}/locations/history?start_date=${date}&end_date=${date}&limit=1`;
      const { query_info } = (await (await get(client(), path)).json()) as { query_info: { source: string } };
      return query_info.source;
    }

    async function expectWhole(days?: number, records?: number): Promise<void> {
      const { code, out } = await runCommand(runtime, place, ["verify", "--json"]);
      const { archive, problems } = JSON.parse(out);
      expect([code, problems]).toEqual([0, []]);
      expect(archive).toMatchObject({ manifest: "ok", damaged: [], lost: [], foreign: [] });
      if (days !== undefined) expect([archive.days, archive.records]).toEqual([days, records]);
    }
  });
}

const CSV_NAMES = ["device_id", "user_id", "timestamp", "latitude", "longitude", "bearing"];

/** The sample's buses on days of these ages, each driven by the same user; within a UTC day, so that days are whole. */
function busReports(nowMs: number): ReferenceReport[] {
  const rows = csvRows(gunzipSync(readFileSync(SAMPLE)).toString());
  const todayMs = nowMs - (nowMs % MS_PER_DAY);
  return AGES_DAYS.flatMap((ageDays) =>
    rows.map(([device_id, timestamp, latitude, longitude, bearing]) => ({
      device_id: device_id!,
      user_id: DRIVER,
      timestamp: todayMs - ageDays * MS_PER_DAY + (Number(timestamp) % MS_PER_DAY),
      latitude: Number(latitude),
      longitude: Number(longitude),
      ...(bearing === "" ? {} : { bearing: Number(bearing) }),
    })),
  );
}

function dayOf({ timestamp }: ReferenceReport): number {
  return Math.floor(timestamp / MS_PER_DAY);
}
