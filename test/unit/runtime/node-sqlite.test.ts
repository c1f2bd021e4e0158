import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileError } from "../../../src/runtime/files.ts";
import { openNodeSqlite } from "../../../src/runtime/node-sqlite.ts";
import { openEvents } from "../../support/geofences/test-events.ts";
import { rejection } from "../../support/rejection.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-sqlite-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("sync() syncs the write-ahead log of the database, and fails if it can't", async () => {
  const path = join(directory, "events.sqlite");
  const events = openEvents(path);
  events.transact(() => events.setPosition(1));
  await events.sync();
  renameSync(`${path}-wal`, join(directory, "aside"));
  await events.sync(); // SQLite has removed it: all transactions are in the database.
  mkdirSync(`${path}-wal`);
  expect(await rejection(events.sync())).toBeInstanceOf(FileError);
  events.database.close();
});

test("sync() does nothing for a database in memory", async () => {
  const database = openNodeSqlite(null);
  database.run("CREATE TABLE one (number INTEGER)");
  await database.sync();
  database.close();
});

test("close() leaves an index file of full size, unless the directory is gone", () => {
  const path = join(directory, "events.sqlite");
  openEvents(path).close();
  expect(statSync(`${path}-shm`).size).toBe(32 * 1024);
  expect(readdirSync(directory)).toEqual(["events.sqlite", "events.sqlite-shm"]);
  const moved = join(directory, "moved");
  mkdirSync(moved);
  const events = openEvents(join(moved, "events.sqlite"));
  rmSync(moved, { recursive: true });
  events.close();
});
