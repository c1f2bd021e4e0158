import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { backUp } from "../../../../src/operator/backup/backup.ts";
import { restore } from "../../../../src/operator/backup/restore.ts";
import { FileError, type Files } from "../../../../src/runtime/files.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import {
  type ArchiveApp,
  createArchiveApp,
  removeArchiveApps,
  temporaryDataDir,
} from "../../../support/archive-app.ts";
import { outcome } from "../../../support/rejection.ts";
import { verifyDirectory } from "../../../support/verify-directory.ts";
import { bodies, openTestQuarantine, refused } from "../../service/quarantine/fixture.ts";

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
    const options = { directory: join(restoredDir(), "quarantine"), damagedDirectory: restoredDir() };
    const restored = await openTestQuarantine(files, options);
    expect(await bodies(restored)).toEqual(["c", "b", "a"]);
    const [segment] = readdirSync(join(app.dataDir, "quarantine"));
    flip(join(app.dataDir, "quarantine", segment!), 4300);
    expect(await problemsOfBackup()).toEqual([expect.stringMatching(/entries: \d+ damaged bytes at 4168$/)]);
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
