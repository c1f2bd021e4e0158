import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ErasureLedger } from "../../../../src/directory/erasure-ledger.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { backUp } from "../../../../src/operator/backup/backup.ts";
import { restore } from "../../../../src/operator/backup/restore.ts";
import { FileError, type Files } from "../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { copyNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { profileOf } from "../../../reference/profiles.ts";
import {
  type ArchiveApp,
  createArchiveApp,
  removeArchiveApps,
  temporaryDataDir,
} from "../../../support/archive-app.ts";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { outcome } from "../../../support/rejection.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";
import { bodies, refused } from "../../service/quarantine/fixture.ts";

/** What a backup says and does where the data directory or the backup is not as it should be. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
/** A disk without hard links, so that a backup is a second copy. */
const files: Files = {
  ...createNodeFiles(),
  link: (from) => Promise.reject(new FileError("link", from, "EXDEV")),
};
let app: ArchiveApp;
let place: string;

const at = (day: number) => Date.UTC(2026, 0, day, 3);
const backupDir = () => join(place, "backup");
const restoredDir = () => join(place, "restored");
const take = async (directory: string) => {
  await files.makeDirectory(directory);
  return () => {};
};

beforeEach(async () => {
  place = temporaryDataDir();
  app = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  await app.store(
    [14, 15, 28].map((day) => ({ device_id: "a", timestamp: at(day), latitude: 1, longitude: 2 })),
  );
  await app.seal();
  await app.store([{ device_id: "b", timestamp: at(28), latitude: 1, longitude: 2 }]);
});
afterEach(() => app.close());

function runBackup(disk = files) {
  const { dataDir, clock } = app;
  return backUp({
    copySqlite: copyNodeSqlite,
    files: disk,
    clock,
    program: "1",
    dataDir,
    directory: backupDir(),
    take,
    onProgress: () => {},
  });
}

function runRestore() {
  return restore({ files, directory: backupDir(), dataDir: restoredDir(), take, onProgress: () => {} });
}

async function problemsOfBackup(): Promise<readonly string[]> {
  const made = await runBackup();
  return made.ok ? made.value.problems : [made.error];
}

function partOf(day: number): string {
  const folder = `archive/day=2026-01-${day}`;
  return `${folder}/${readdirSync(join(app.dataDir, folder))[0]}`;
}

function flip(path: string, offset = 50): void {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.with(offset, bytes[offset]! ^ 4));
}

describe("backUp()", () => {
  test("copies a damaged data directory as it is, and names what is damaged, once and again", async () => {
    flip(join(app.dataDir, partOf(14)));
    rmSync(join(app.dataDir, partOf(15)));
    const [segment] = readdirSync(join(app.dataDir, "wal"));
    await app.store([{ device_id: "b", timestamp: at(27), latitude: 1, longitude: 2 }]);
    flip(join(app.dataDir, "wal", segment!), 60); // In the first of two entries: the end could be a write under way.
    writeFileSync(join(app.dataDir, "keys.json"), "{");
    const damaged = [
      `${partOf(14)}: its bytes are not those written`,
      expect.stringMatching(/^archive\/day=2026-01-15\/.*: it is missing$/),
      expect.stringMatching(new RegExp(`^wal/${segment}: \\d+ damaged bytes at \\d+$`)),
      "keys.json can't be used: it is not a JSON object",
    ];
    for (let time = 0; time < 2; time++) expect(await problemsOfBackup()).toEqual(damaged);
    const restored = await runRestore();
    expect(restored).toMatchObject({ ok: true, value: { problems: damaged } });
    for (const file of [partOf(14), `wal/${segment}`, "keys.json"])
      expect(readFileSync(join(restoredDir(), file))).toEqual(readFileSync(join(app.dataDir, file)));
  });

  test("carries the quarantine, and names what is damaged of it", async () => {
    const { quarantine } = app.directory;
    await quarantine.put(["a", "b", "c"].map((body) => refused(body)));
    expect(await problemsOfBackup()).toEqual([]);
    expect((await runRestore()).ok).toBe(true);
    const restored = await createArchiveApp({ dataDir: restoredDir(), clock: app.clock });
    expect(await bodies(restored.directory)).toEqual(["c", "b", "a"]);
    await restored.close();
    await app.seal();
    const [message] = readdirSync(join(app.dataDir, "quarantine"));
    flip(join(app.dataDir, "quarantine", message!), 100);
    expect(await problemsOfBackup()).toEqual([expect.stringMatching(/message: \d+ damaged bytes at 0$/)]);
  });

  test("carries events and the position in the log, and nothing that was deleted, while the directory is in use", async () => {
    const { eventStore } = app.directory;
    const event = { deviceId: "passing-by" as DeviceId };
    putAll(eventStore, [revisionAt(at(28), "1"), revisionAt(at(28), "2", event)]);
    eventStore.transact(() => eventStore.setPosition(1));
    expect(await problemsOfBackup()).toEqual([]);
    const copy = join(backupDir(), "events/events.sqlite");
    expect(readFileSync(copy).includes("passing-by")).toBe(true);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    eventStore.database.run("DELETE FROM events WHERE device_id = 'passing-by'");
    expect(await problemsOfBackup()).toEqual([]);
    expect(readFileSync(copy).includes("passing-by")).toBe(false);
    expect((await runRestore()).ok).toBe(true);
    const restored = await createArchiveApp({ dataDir: restoredDir(), clock: app.clock });
    const { eventStore: events } = restored.directory;
    expect([events.position(), events.after(null, 0, 10)]).toEqual([1, eventStore.after(null, 0, 10)]);
    await restored.close();
  });

  test("has the last good copy of a damaged database of events, and names it", async () => {
    putAll(app.directory.eventStore, [revisionAt(at(28), "1")]);
    expect(await problemsOfBackup()).toEqual([]);
    const copy = readFileSync(join(backupDir(), "events/events.sqlite"));
    await app.close();
    writeFileSync(join(app.dataDir, "events/events.sqlite"), "x".repeat(9999));
    const problem = "events/events.sqlite: it is damaged: file is not a database";
    expect(await problemsOfBackup()).toEqual([problem]);
    expect(readFileSync(join(backupDir(), "events/events.sqlite"))).toEqual(copy);
  });

  test("carries the ledger and the reports of erasures, and has of other folders only what is still there", async () => {
    const ledger = await ErasureLedger.open(files, join(app.dataDir, "erasures.json"));
    const subject = { kind: "device", appId: "fleet" as AppId, id: "gone" } as const;
    const range = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
    await ledger.add({ id: "x_1", sequence: 3, createdMs: NOW_MS, block: true, ...range, subject });
    const written = ["erasures/x_1.json", "imports/one.json", "damaged/bytes.at-0"];
    for (const path of written) {
      await files.makeDirectory(dirname(join(app.dataDir, path)));
      writeFileSync(join(app.dataDir, path), "{}");
    }
    await app.directory.quarantine.put([refused("a"), refused("b")]);
    expect(await problemsOfBackup()).toEqual([]);
    expect((await runRestore()).ok).toBe(true);
    for (const file of ["erasures.json", ...written])
      expect(readFileSync(join(restoredDir(), file))).toEqual(readFileSync(join(app.dataDir, file)));
    const quarantined = readdirSync(join(backupDir(), "quarantine"));
    expect(quarantined).toHaveLength(2);
    const gone = [...written, `quarantine/${quarantined[0]}`];
    for (const file of gone) rmSync(join(app.dataDir, file));
    writeFileSync(join(app.dataDir, "erasures.json"), "{");
    expect(await problemsOfBackup()).toEqual(["erasures.json can't be used: it is not a JSON object"]);
    expect(gone.filter((file) => existsSync(join(backupDir(), file)))).toEqual([]);
    rmSync(join(app.dataDir, "erasures.json"));
    expect(await problemsOfBackup()).toEqual([]);
    expect(existsSync(join(backupDir(), "erasures.json"))).toBe(false);
  });

  test("carries the profiles of devices, sealed and in the log, and keeps a good copy of their file", async () => {
    const setName = async (deviceId: string, name: string | null) =>
      expect(
        await app.directory.editProfile(
          "fleet" as AppId,
          deviceId as DeviceId,
          name === null ? null : profileOf({ name }),
        ),
      ).toMatchObject({ ok: true });
    await setName("a", "Bus 42");
    await setName("silent", "Depot");
    await app.seal();
    expect(await problemsOfBackup()).toEqual([]);
    await setName("b", "Tram");
    await setName("silent", null);
    const { profiles, sha256 } = await verifyDirectory(app.dataDir, app.clock);
    expect(profiles).toMatchObject([{ app: "fleet", profiles: 2 }]);
    expect(await problemsOfBackup()).toEqual([]);
    const file = `archive/standing/${readdirSync(join(app.dataDir, "archive/standing"))[0]}`;
    flip(join(backupDir(), file));
    expect(await problemsOfBackup()).toEqual([]);
    rmSync(join(app.dataDir, file));
    expect(await problemsOfBackup()).toEqual([`${file}: it is missing; the backup has it`]);
    expect((await runRestore()).ok).toBe(true);
    expect(await verifyDirectory(restoredDir(), app.clock)).toMatchObject({ profiles, sha256, problems: [] });
  });

  test("keeps its good copy of a part that the data directory has lost", async () => {
    const [one, other] = [partOf(14), partOf(15)];
    const { appDays } = await verifyDirectory(app.dataDir, app.clock);
    expect(await problemsOfBackup()).toEqual([]);
    rmSync(join(app.dataDir, one));
    writeFileSync(join(app.dataDir, other), "x");
    expect(await problemsOfBackup()).toEqual([
      `${one}: it is missing; the backup has it`,
      expect.stringMatching(/^archive\/day=2026-01-15.* instead of \d+; the backup has it$/),
    ]);
    expect((await runRestore()).ok).toBe(true);
    expect(await verifyDirectory(restoredDir(), app.clock)).toMatchObject({ appDays, problems: [] });
  });

  test("brings a copy again that rotted in the backup, or that its disk can't read any more", async () => {
    const { appDays } = await verifyDirectory(app.dataDir, app.clock);
    expect(await problemsOfBackup()).toEqual([]);
    const [rotten, unread] = [partOf(14), partOf(15)];
    flip(join(backupDir(), rotten));
    const worn: Files = {
      ...files,
      read: (path) =>
        path === join(backupDir(), unread)
          ? Promise.reject(new FileError("read", path, "EIO"))
          : files.read(path),
    };
    expect(await runBackup(worn)).toMatchObject({ ok: true, value: { problems: [], copiedFiles: 2 } });
    expect(await runBackup()).toMatchObject({ ok: true, value: { problems: [], copiedFiles: 0 } });
    expect((await runRestore()).ok).toBe(true);
    expect(await verifyDirectory(restoredDir(), app.clock)).toMatchObject({ appDays, problems: [] });
  });

  test("keeps a rotten copy of what is lost otherwise, and says so", async () => {
    expect(await problemsOfBackup()).toEqual([]);
    const part = partOf(14);
    flip(join(backupDir(), part));
    const rotten = readFileSync(join(backupDir(), part));
    rmSync(join(app.dataDir, part));
    const problems = [`${part}: it is missing`, `${part}: the backup's copy is damaged too`];
    expect(await problemsOfBackup()).toEqual(problems);
    expect(await runRestore()).toMatchObject({ ok: true, value: { problems } });
    expect(readFileSync(join(restoredDir(), part))).toEqual(rotten);
  });

  test.each(["list", "read"] as const)(
    "whose %s fails forgets nothing that the former one left waiting",
    async (operation) => {
      expect(await problemsOfBackup()).toEqual([]);
      await app.store([{ device_id: "b", timestamp: at(28), latitude: 1, longitude: 3 }]);
      const refusal = (name: string) => (path: string) => Promise.reject(new FileError(name, path, "EIO"));
      const unsettled = await runBackup({ ...files, rename: refusal("rename") });
      expect(unsettled).toMatchObject({
        ok: false,
        error: expect.stringContaining("The new backup is complete"),
      });
      const next = join(backupDir(), "next");
      const [name] = readdirSync(join(app.dataDir, "wal"));
      const refused = operation === "list" ? next : join(next, `wal+${name}`);
      const failing: Files = {
        ...files,
        [operation]: (path: string) => (path === refused ? refusal(operation)(path) : files[operation](path)),
      };
      expect(await runBackup(failing)).toEqual({
        ok: false,
        error: `Cannot ${operation} "${refused}": the disk failed (EIO). The backup of 2026-01-28T12:00:00.000Z is as it was.`,
      });
      expect((await runRestore()).ok).toBe(true);
      expect(readFileSync(join(restoredDir(), "wal", name!))).toEqual(
        readFileSync(join(app.dataDir, "wal", name!)),
      );
    },
  );

  test("says of a backup that failed what is known of it, and no more", async () => {
    const path = join(backupDir(), "backup.json");
    /** A disk whose write fails, before or after it was done, and which can't read `backup.json` from then on. */
    const failing = (isDone: boolean, isRead: boolean): Files => {
      let hasFailed = false;
      return {
        ...files,
        async replace(to, bytes) {
          if (isDone) await files.replace(to, bytes);
          hasFailed = true;
          throw new FileError("replace", to, "EIO");
        },
        exists: (of) =>
          hasFailed && !isRead && of === path
            ? Promise.reject(new FileError("exists", of, "EIO"))
            : files.exists(of),
      };
    };
    const asItWas = "The backup of 2026-01-28T12:00:00.000Z is as it was.";
    const doubtful =
      "It could not be read whether the new backup is valid; if it is not, the former one is unchanged: back up again.";
    let longitude = 2;
    const unlasting =
      "The new backup is complete and can be restored, but a power failure may undo it: back up again.";
    for (const [isDone, isRead, told] of [
      [false, true, asItWas],
      [false, false, doubtful],
      [true, false, doubtful],
      [true, true, unlasting],
    ] as const) {
      expect(await problemsOfBackup()).toEqual([]);
      await app.store([{ device_id: "b", timestamp: at(28), latitude: 1, longitude: ++longitude }]);
      const error = `Cannot replace "${path}": the disk failed (EIO). ${told}`;
      expect(await runBackup(failing(isDone, isRead))).toEqual({ ok: false, error });
      expect((await runRestore()).ok).toBe(true);
      rmSync(restoredDir(), { recursive: true });
    }
  });

  test("has what it read of a file before a seal made it start over and the file could not be read again", async () => {
    expect(await problemsOfBackup()).toEqual([]);
    await app.store([{ device_id: "b", timestamp: at(28), latitude: 1, longitude: 3 }]);
    const [name] = readdirSync(join(app.dataDir, "wal"));
    const segment = join(app.dataDir, "wal", name!);
    const manifest = join(app.dataDir, "archive/manifest.json");
    let reads = 0;
    const failing: Files = {
      ...files,
      async read(path) {
        if (path === segment && reads++ > 0) throw new FileError("read", path, "EIO");
        if (path === manifest && reads === 1)
          await app.directory.archive.swap({ ...app.directory.archive.manifest, seal: 99 });
        return files.read(path);
      },
    };
    expect(await runBackup(failing)).toMatchObject({
      ok: true,
      value: { problems: [`wal/${name}: it can't be read: the disk failed (EIO)`] },
    });
    expect((await runRestore()).ok).toBe(true);
    expect(readFileSync(join(restoredDir(), "wal", name!))).toEqual(readFileSync(segment));
  });

  test("brings the parts of an archive whose manifest is lost or damaged", async () => {
    const { appDays } = await verifyDirectory(app.dataDir, app.clock);
    const manifest = join(app.dataDir, "archive/manifest.json");
    flip(manifest);
    expect(await problemsOfBackup()).toEqual(["archive/manifest.json is damaged"]);
    rmSync(manifest);
    expect(await problemsOfBackup()).toEqual(["archive/manifest.json is missing"]);
    expect(readdirSync(join(backupDir(), "archive"))).not.toContain("manifest.json");
    expect((await runRestore()).ok).toBe(true);
    const again = await createArchiveApp({ clock: app.clock, dataDir: restoredDir() });
    expect(again.notes).toEqual(["The archive's manifest is missing. It was rebuilt from the files."]);
    await again.seal(); // It writes the manifest.
    await again.store([{ device_id: "c", timestamp: at(14), latitude: 1, longitude: 2 }]);
    await again.seal();
    await again.close();
    const found = await verifyDirectory(restoredDir(), app.clock);
    expect(found.problems).toEqual([]);
    expect(found.appDays!.slice(1)).toEqual(appDays!.slice(1));
  });

  test("gives up on an archive that changes each time, and leaves the former backup", async () => {
    expect(await problemsOfBackup()).toEqual([]);
    const before = readFileSync(join(backupDir(), "backup.json"));
    const manifest = join(app.dataDir, "archive/manifest.json");
    let seal = 0;
    const restless: Files = {
      ...files,
      async read(path) {
        if (path === manifest)
          await app.directory.archive.swap({ ...app.directory.archive.manifest, seal: ++seal });
        return files.read(path);
      },
    };
    expect(await runBackup(restless)).toEqual({
      ok: false,
      error:
        "The archive changed 8 times while it was read. The backup of 2026-01-28T12:00:00.000Z is as it was.",
    });
    expect(readFileSync(join(backupDir(), "backup.json"))).toEqual(before);
    expect(readdirSync(backupDir())).not.toContain("next");
    expect((await runRestore()).ok).toBe(true);
  });

  test("leaves a backup alone that it can't read", async () => {
    expect(await problemsOfBackup()).toEqual([]);
    const path = join(backupDir(), "backup.json");
    const whole = readFileSync(path, "utf8");
    writeFileSync(path, whole.replace('"version":1', '"version":2'));
    expect(await outcome(runBackup())).toThrow(FormatVersionError);
    expect(await outcome(runRestore())).toThrow(FormatVersionError);
    for (const text of ["{", whole.replace('"bytes":', '"bytes": 1'), whole.replace("wal/", "../../")]) {
      writeFileSync(path, text);
      expect(await problemsOfBackup()).toEqual([
        `"${path}" is damaged: it is unknown what the backup holds.`,
      ]);
      expect((await runRestore()).ok).toBe(false);
      expect(readFileSync(path, "utf8")).toBe(text);
    }
  });
});
