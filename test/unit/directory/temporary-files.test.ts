import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { takeDirectory } from "../../../src/directory/take-directory.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { findTemporaryFiles } from "../../../src/operator/verify/temporary-files.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import { createArchiveApp } from "../../support/archive-app.ts";
import { outcome } from "../../support/rejection.ts";

const files = createNodeFiles();
const { acquireLock } = createPlatform();
const platform = { files, acquireLock, pid: 1 };
const clock = createManualClock(0);

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "wherehouse-temporary-"));
  mkdirSync(join(dataDir, "archive"));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const LEFT = [
  "cluster.json.01234567.tmp",
  "directory-id.89abcdef.tmp",
  "first-key.00000000.tmp",
  "keys.json.deadbeef.tmp",
  "pass-phrases.json.deadbeef.tmp",
  "session-secret.deadbeef.tmp",
  "settings.json.deadbeef.tmp",
];

function leave(...names: readonly string[]): void {
  for (const name of names) writeFileSync(join(dataDir, name), "hashes of keys");
}

const temporary = () =>
  readdirSync(dataDir)
    .filter((name) => name.endsWith(".tmp"))
    .sort();

test("takeDirectory() removes our temporary files after a crash, and no others", async () => {
  leave(...LEFT, "notes.tmp", "keys.json.old.tmp");
  expect(await findTemporaryFiles(files, directoryPaths(dataDir))).toEqual(
    LEFT.map((name) => join(dataDir, name)),
  );
  const release = await takeDirectory(dataDir, "test", platform, clock);
  expect(temporary()).toEqual(["keys.json.old.tmp", "notes.tmp"]);
  expect(await findTemporaryFiles(files, directoryPaths(dataDir))).toEqual([]);
  release();
});

test("takeDirectory() leaves what another process writes just now, under the lock of its file", async () => {
  const writing = await acquireLock(join(dataDir, "keys.json.lock"), { pid: 2, command: "keys", sinceMs: 0 });
  if (!writing.ok) throw new Error("the lock is free");
  leave("keys.json.deadbeef.tmp", "settings.json.deadbeef.tmp");
  const release = await takeDirectory(dataDir, "test", platform, clock);
  expect(temporary()).toEqual(["keys.json.deadbeef.tmp"]);
  release();
  writing.release();
  const later = await takeDirectory(dataDir, "test", platform, clock);
  expect(temporary()).toEqual([]);
  later();
});

/** In each folder of a data directory: what a crash may leave of ours, and what others may have put there. */
const IN_FOLDERS = {
  archive: {
    ours: ["manifest.json.deadbeef.tmp"],
    others: ["manifest.json.old.tmp", "notes.tmp", "x.parquet.tmp"],
  },
  "archive/day=2026-11-14": {
    ours: ["00000012-000.parquet.deadbeef.tmp"],
    others: ["mine.parquet.tmp", "notes.deadbeef.tmp"],
  },
  damaged: {
    ours: ["00000000000000000001.wal.at-40.deadbeef.damaged.01234567.tmp", "acknowledged.json.01234567.tmp"],
    others: ["disk-image.tmp", "copy.wal.deadbeef.tmp"],
  },
  erasures: {
    ours: ["01KDTV3GZ8Q3M5T7V9X1Z3B5D8.json.deadbeef.tmp"],
    others: ["notes.tmp"],
  },
  quarantine: {
    ours: [
      "0000000000000012-0123456789abcdef0123456789abcdef.message.deadbeef.tmp",
      "expiry.json.deadbeef.tmp",
    ],
    others: ["1.message.deadbeef.tmp", "todo.tmp"],
  },
  wal: {
    ours: ["00000000000000000001.wal.deadbeef.tmp"],
    others: ["1.wal.tmp", "00000000000000000001.wal.bak.tmp"],
  },
};

test("findTemporaryFiles() finds our files in every folder, and no others", async () => {
  const paths: string[] = [];
  for (const [folder, { ours, others }] of Object.entries(IN_FOLDERS)) {
    mkdirSync(join(dataDir, folder), { recursive: true });
    leave(...[...ours, ...others].map((name) => join(folder, name)));
    paths.push(...ours.map((name) => join(dataDir, folder, name)));
  }
  expect((await findTemporaryFiles(files, directoryPaths(dataDir))).sort()).toEqual(paths.sort());
});

test("a start removes ours of every folder but those that a seal moves aside, and leaves other files", async () => {
  for (const [folder, { ours, others }] of Object.entries(IN_FOLDERS)) {
    mkdirSync(join(dataDir, folder), { recursive: true });
    leave(...[...ours, ...others].map((name) => join(folder, name)));
  }
  await (await createArchiveApp({ dataDir })).close();
  for (const [folder, { ours, others }] of Object.entries(IN_FOLDERS)) {
    const left = folder.includes("=") ? [...ours, ...others] : others;
    const names = readdirSync(join(dataDir, folder)).filter((name) => name.endsWith(".tmp"));
    expect(names.sort()).toEqual([...left].sort());
  }
});

test("a process that does not get the directory removes nothing", async () => {
  const release = await takeDirectory(dataDir, "test", platform, clock);
  leave("first-key.00000000.tmp");
  expect(await outcome(takeDirectory(dataDir, "test", platform, clock))).toThrow("in use");
  expect(temporary()).toEqual(["first-key.00000000.tmp"]);
  release();
});
