import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeDirectory } from "../../src/directory/take-directory.ts";
import { findTemporaryFiles } from "../../src/directory/temporary-files.ts";
import { createNodeFiles } from "../../src/runtime/node-files.ts";
import { createPlatform } from "../../src/runtime/platform.ts";
import { createManualClock } from "../../src/time/clock.ts";

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

test("takeDirectory() removes what a crash left of our files, and nobody else's", async () => {
  leave(...LEFT, "notes.tmp", "keys.json.old.tmp");
  expect(await findTemporaryFiles(files, dataDir)).toEqual(LEFT.map((name) => join(dataDir, name)));
  const release = await takeDirectory(dataDir, "test", platform, clock);
  expect(temporary()).toEqual(["keys.json.old.tmp", "notes.tmp"]);
  expect(await findTemporaryFiles(files, dataDir)).toEqual([]);
  release();
});

test("takeDirectory() leaves what another process writes just now, under the lock of its file", async () => {
  const writing = await acquireLock(join(dataDir, "keys.json.lock"), { pid: 2, command: "keys", sinceMs: 0 });
  if (!writing.ok) throw new Error("nobody else has it");
  leave("keys.json.deadbeef.tmp", "settings.json.deadbeef.tmp");
  const release = await takeDirectory(dataDir, "test", platform, clock);
  expect(temporary()).toEqual(["keys.json.deadbeef.tmp"]);
  release();
  writing.release();
  const later = await takeDirectory(dataDir, "test", platform, clock);
  expect(temporary()).toEqual([]);
  later();
});

test("findTemporaryFiles() names those of the archive too", async () => {
  leave("archive/manifest.json.deadbeef.tmp");
  const path = join(dataDir, "archive", "manifest.json.deadbeef.tmp");
  expect(await findTemporaryFiles(files, dataDir)).toEqual([path]);
});

test("a process that does not get the directory removes nothing", async () => {
  const release = await takeDirectory(dataDir, "test", platform, clock);
  leave("first-key.00000000.tmp");
  await expect(takeDirectory(dataDir, "test", platform, clock)).rejects.toThrow("in use");
  expect(temporary()).toEqual(["first-key.00000000.tmp"]);
  release();
});
