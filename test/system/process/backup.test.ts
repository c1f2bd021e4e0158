import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BackupReport } from "../../../src/operator/backup/backup.ts";
import type { BackupFile } from "../../../src/operator/backup/file.ts";
import { createReferenceRecords, type ReferenceReport } from "../../reference/records.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startCommand,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { BODY_FORMATS, type Client, findWrongAnswers, store } from "../support/client.ts";
import { type Batch, createBatches, findReported, settle } from "../support/load.ts";
import { pause } from "../support/pause.ts";
import { test, testOnBunAlone } from "../support/process-test.ts";
import { createPicker } from "../support/random.ts";
import { randomQueries } from "../support/random-queries.ts";

/*
 * Goal: whoever has lost a data directory has everything again that was acknowledged before the last backup began.
 * Method: the drill itself. A server takes reports from several clients and seals every second; `backup` runs beside
 * it; the server is killed; `restore` makes another directory, and a server on that is asked about everything, with
 * answers by plain loops over the reports that were posted.
 */

const MS_PER_DAY = 86_400_000;
const SEALS = ["--seal-every", "1s"];
const CLIENTS = 3;
/** Between two batches of a client: the drill is about what happens, not about how much. */
const PAUSE_MS = 80;
const QUERIES_OF_EACH = randomRuns(5);
/** How long after its start a backup is killed. */
const KILLED_AFTER_MS = [200, 400];

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const pick = createPicker(seededRandom(RANDOM_SEED + 70 + runtime.name.length));
    const devices = Array.from({ length: 12 }, (_, i) => `phone-${i}`);
    const nextBatch = createAgedBatches();
    const posted: Batch[] = [];
    let place: Place;
    let server: ServerProcess;
    let key = "";
    let isPosting = false;
    let posting: Promise<unknown> = Promise.resolve();

    beforeAll(async () => {
      place = openPlace();
      server = await startReady(runtime, place, SEALS);
      key = readFirstKey(place);
    });
    afterAll(() => closePlace(place));

    /** Half of the reports are of days that are due to be sealed, some of which are sealed already. */
    function createAgedBatches() {
      const recent = createBatches(pick, devices, Date.now());
      return (): ReferenceReport[] =>
        recent().map((report) => ({
          ...report,
          timestamp: report.timestamp - pick.item([0, 0, 10, 20, 250]) * MS_PER_DAY,
        }));
    }

    async function postOn(): Promise<void> {
      while (isPosting) {
        const batch: Batch = { reports: nextBatch(), state: "unanswered" };
        posted.push(batch);
        await store(client(), batch.reports, pick.item(BODY_FORMATS));
        batch.state = "acknowledged";
        await pause(PAUSE_MS);
      }
    }

    /** Does the work while clients post, once so many more batches are acknowledged. */
    async function whilePosting<Value>(batches: number, work: () => Promise<Value>): Promise<Value> {
      isPosting = true;
      posting = Promise.all(Array.from({ length: CLIENTS }, postOn));
      const wanted = countAcknowledged() + batches;
      await until(() => countAcknowledged() >= wanted);
      try {
        return await work();
      } finally {
        isPosting = false;
        await posting;
      }
    }

    const client = (): Client => ({ url: server.url, key });
    const backupDir = () => join(place.directory, "backup");
    const elsewhere = (name: string): Place => ({ ...place, dataDir: join(place.directory, name) });
    const countAcknowledged = () => posted.filter(({ state }) => state === "acknowledged").length;

    async function backUp(): Promise<BackupReport> {
      const { code, out, error } = await runCommand(runtime, place, ["backup", backupDir(), "--json"]);
      expect([code, error]).toEqual([0, ""]);
      return JSON.parse(out) as BackupReport;
    }

    let lastReport: BackupReport;

    /** Backs up beside whoever posts; returns the batches as they were before. */
    async function backUpBeside(): Promise<readonly Batch[]> {
      const before = posted.map((batch) => ({ ...batch }));
      lastReport = await backUp();
      return before;
    }

    const backedUpFiles = (): BackupFile[] =>
      JSON.parse(readFileSync(join(backupDir(), "backup.json"), "utf8")).backup.files;

    /** Of every file of a directory but locks, by path. Files that a seal takes away meanwhile are left out. */
    function inodesOf(directory: string): Map<string, number> {
      const inodes = new Map<string, number>();
      for (const path of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
        const stat = statSync(join(directory, path), { throwIfNoEntry: false });
        if (stat?.isFile()) inodes.set(path, stat.ino);
      }
      return inodes;
    }

    async function verify(where: Place) {
      const { code, out } = await runCommand(runtime, where, ["verify", "--json"]);
      const { problems, appDays, archive } = JSON.parse(out);
      expect([code, problems]).toEqual([0, []]);
      return { appDays, archive };
    }

    test("a backup beside a busy server has all that was acknowledged before it began", async () => {
      const before = await whilePosting(10, async () => {
        await server.says(/Archived /); // The first day is sealed.
        return backUpBeside();
      });
      await expectRestored("first", before);
    });

    // How files are kept, linked and given up does not depend on the runtime.
    const testOnBun = testOnBunAlone(runtime);

    testOnBun("the next backup brings what is new, keeps the rest, and gives up what went", async () => {
      const filesBefore = backedUpFiles();
      const inodes = inodesOf(backupDir());
      const before = await whilePosting(6, backUpBeside);
      const files = backedUpFiles();
      const isKept = ({ file, crc }: BackupFile) =>
        filesBefore.some((each) => each.file === file && each.crc === crc);
      const isNew = (file: BackupFile) => !isKept(file);
      expect(files.filter(isNew).length).toBeGreaterThan(0);
      expect(files.filter(isKept).length).toBeGreaterThan(0);
      expect(lastReport.copiedFiles + lastReport.linkedFiles).toBe(files.filter(isNew).length);
      expect(lastReport.copiedBytes + lastReport.linkedBytes).toBe(sumOfBytes(files.filter(isNew)));
      const inodesNow = inodesOf(backupDir());
      for (const { file } of files.filter(isKept))
        expect([file, inodesNow.get(file)]).toEqual([file, inodes.get(file)]);
      const sources = inodesOf(place.dataDir);
      const parts = files.filter(({ file }) => file.endsWith(".parquet") && sources.has(file));
      for (const { file } of parts) expect([file, inodesNow.get(file)]).toEqual([file, sources.get(file)]);
      for (const { file } of files.filter(({ file }) => !file.endsWith(".parquet")))
        expect(inodesNow.get(file)).not.toBe(sources.get(file));
      expect([...inodesNow.keys()].sort()).toEqual(
        [...files.map(({ file }) => file), "backup.json", "lock"].sort(),
      );
      await expectRestored("second", before);
    });

    test("once nothing changes, data directory, backup and what is restored have the same hashes", async () => {
      await backUp();
      await server.stop(); // A seal may have come between: the records are the same.
      const source = await verify(place);
      expect(source.appDays.length).toBeGreaterThan(10);
      expect((await verify(elsewhere("backup"))).appDays).toEqual(source.appDays);
      const restored = await runCommand(runtime, elsewhere("third"), ["restore", backupDir(), "--json"]);
      expect([restored.code, restored.error]).toEqual([0, ""]);
      expect((await verify(elsewhere("third"))).appDays).toEqual(source.appDays);
      expect(inodesOf(elsewhere("third").dataDir).get("keys.json")).toBeGreaterThan(0);
      const linked = new Set(inodesOf(backupDir()).values());
      const shared = [...inodesOf(elsewhere("third").dataDir)].filter(([, inode]) => linked.has(inode));
      expect(shared).toEqual([]);
      server = await startReady(runtime, place, SEALS);
    });

    if (runtime.name === "Deno") return; // What follows is the disk's doing, and takes dozens of processes.

    test("a backup that is killed leaves one that can be restored", async () => {
      for (const afterMs of KILLED_AFTER_MS) {
        await whilePosting(3, async () => {
          const command = startCommand(runtime, place, ["backup", backupDir()]);
          await pause(afterMs);
          command.kill("SIGKILL");
          await command.ended;
        });
        const restored = await runCommand(runtime, elsewhere(`killed-${afterMs}`), ["restore", backupDir()]);
        expect([restored.code, restored.error]).toEqual([0, ""]);
        await verify(elsewhere(`killed-${afterMs}`));
      }
    });

    test("a damaged or incomplete backup is refused by its files, and nothing is made of it", async () => {
      const parts = backedUpFiles().filter(({ file }) => file.endsWith(".parquet"));
      const [one, other] = [
        parts[0]!.file,
        backedUpFiles().find(({ file }) => file.startsWith("wal/"))!.file,
      ];
      const path = join(backupDir(), other);
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.with(100, bytes[100]! ^ 1));
      rmSync(join(backupDir(), one));
      const { code, out, error } = await runCommand(runtime, elsewhere("fourth"), ["restore", backupDir()]);
      expect([code, out]).toEqual([1, ""]);
      expect(error).toContain(`Damaged: ${one}: it is missing\n`);
      expect(error).toContain(`Damaged: ${other}: its bytes are not those written\n`);
      expect(readdirSync(place.directory).filter((name) => name.startsWith("fourth"))).toEqual([]);
      // The next backup makes both good.
      writeFileSync(path, new Uint8Array());
      await backUp();
      const again = await runCommand(runtime, elsewhere("fourth"), ["restore", backupDir()]);
      expect([again.code, again.error]).toEqual([0, ""]);
    });

    test("wrong directories are refused in a line, and nothing is written to them", async () => {
      const third = elsewhere("third");
      const refusals: [Place, string[], number, string][] = [
        [place, ["backup", place.dataDir], 2, "must not contain each other"],
        [place, ["backup", join(place.dataDir, "x")], 2, "must not contain each other"],
        [place, ["backup", third.dataDir], 1, "holds files and no backup"],
        [elsewhere("none"), ["backup", backupDir()], 1, "There is no data directory"],
        [third, ["restore", backupDir()], 1, "is not empty"],
        [elsewhere("none"), ["restore", third.dataDir], 1, "holds no backup"],
        [elsewhere("none"), ["restore", elsewhere("nowhere").dataDir], 1, "holds no backup"],
      ];
      // The server goes on sealing, and its archive changes by that.
      const listed = () =>
        readdirSync(place.directory, { recursive: true, encoding: "utf8" })
          .filter((path) => !path.startsWith("data/archive/"))
          .sort();
      const before = listed();
      for (const [where, args, code, message] of refusals) {
        const refused = await runCommand(runtime, where, args);
        expect([args, refused.code, refused.out]).toEqual([args, code, ""]);
        expect(refused.error).toContain(message);
      }
      expect(listed()).toEqual(before);
    });

    /** Restores the backup and asks a server there about all of it. */
    async function expectRestored(name: string, before: readonly Batch[]): Promise<void> {
      const { code, out, error } = await runCommand(runtime, elsewhere(name), ["restore", backupDir()]);
      expect([code, error]).toEqual([0, ""]);
      expect(out).toMatch(/^Next:\n {2}(bun src\/main.ts|wherehouse) verify --data-dir /m);
      expect(out).toContain(` verify --data-dir ${elsewhere(name).dataDir}\n`);
      await verify(elsewhere(name));
      const restored = await startReady(runtime, elsewhere(name), ["--seal-every", "1d"]);
      const there: Client = { url: restored.url, key };
      const fleet = createReferenceRecords("default");
      // What was posted after the backup began may be in it, or not.
      const later = posted
        .slice(before.length)
        .map(({ reports }) => ({ reports, state: "unanswered" }) as const);
      const known = [...before, ...later];
      expect(settle(fleet, known, await findReported(there, known))).toEqual([]);
      const nobody = createReferenceRecords("nobody");
      expect(
        await findWrongAnswers(there, fleet, randomQueries(fleet, nobody, pick, QUERIES_OF_EACH)),
      ).toEqual([]);
      expect((await restored.stop()).code).toBe(0);
    }
  });
}

function sumOfBytes(files: readonly BackupFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
