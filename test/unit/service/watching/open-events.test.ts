import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { openNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { DamagedDatabaseError } from "../../../../src/runtime/sqlite.ts";
import { type OpenedEvents, openEvents } from "../../../../src/service/watching/open-events.ts";
import { APP, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { until } from "../../../support/until.ts";

let root = "";
let path = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "wherehouse-events-"));
  path = join(root, "events/events.sqlite");
});
afterEach(() => rmSync(root, { recursive: true }));

async function open(): Promise<OpenedEvents> {
  const directory = join(root, "events");
  const damagedDirectory = join(root, "damaged");
  const files = createNodeFiles();
  return openEvents({
    files,
    openSqlite: openNodeSqlite,
    directory,
    damagedDirectory,
    nowMs: 7,
    erasuresOf: () => [],
  });
}

test("a new database begins at the end of the log, and an old one where it was", async () => {
  const first = await open();
  expect([first.damage, first.notes]).toEqual([[], []]);
  first.events.begin(40);
  first.events.transact(() => first.events.setPosition(42));
  first.events.close();
  const { events } = await open();
  events.begin(50);
  expect(events.position()).toBe(42);
  events.begin(41); // The log has lost its end.
  expect(events.position()).toBe(41);
  events.close();
});

test("what is no database goes to the damaged files, and an empty one begins", async () => {
  (await open()).events.close();
  writeFileSync(path, "x".repeat(5000));
  const { events, damage, notes } = await open();
  expect(events.lastSeq()).toBe(0);
  const savedAs = join(root, "damaged/events.sqlite.7.damaged");
  expect(damage).toEqual([{ file: path, offset: 0, bytes: 5000, savedAs }]);
  expect(readFileSync(savedAs, "utf8")).toBe("x".repeat(5000));
  expect(notes).toEqual([expect.stringContaining("(file is not a database) and was moved")]);
  events.close();
});

test("damage that is met later moves the database at the next start", async () => {
  const { events } = await open();
  for (let round = 0; round < 20; round++)
    putAll(
      events,
      Array.from({ length: 100 }, (_, index) => revisionAt(round, `${index}`)),
    );
  events.close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 4096 * 16, bytes.length - 4096);
  writeFileSync(path, bytes);
  const again = await open();
  expect(again.damage).toEqual([]);
  expect(() => again.events.after(APP, 0, 3000)).toThrow(DamagedDatabaseError);
  await until(() => readdirSync(join(root, "events")).includes("damaged"));
  again.events.close();
  const { events: fresh, damage, notes } = await open();
  expect(damage[0]).toMatchObject({ file: path, bytes: bytes.length });
  expect(notes).toEqual([expect.stringContaining("an earlier process met damage in it")]);
  expect([fresh.after(APP, 0, 10), readdirSync(join(root, "events")).includes("damaged")]).toEqual([
    [],
    false,
  ]);
  fresh.close();
});

test("a database of another version stops the start and stays", async () => {
  const { events } = await open();
  events.database.run("PRAGMA user_version = 9");
  events.close();
  const before = readFileSync(path);
  const failure = await open().catch((error: unknown) => error);
  expect(String(failure)).toContain("expected format version 2, found 9. A newer program wrote it.");
  expect(readFileSync(path).equals(before)).toBe(true);
});
