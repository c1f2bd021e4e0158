import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { isDiskFull } from "../../../../src/runtime/files.ts";
import { openNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { DamagedDatabaseError } from "../../../../src/runtime/sqlite.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import type { StoredEvent } from "../../../../src/service/watching/stored-event.ts";
import { APP, openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";

let directory = "";
let path = "";
let open: EventStore[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-events-"));
  path = join(directory, "events.sqlite");
});

afterEach(() => {
  for (const events of open) events.close();
  open = [];
  rmSync(directory, { recursive: true });
});

function openPath(endOfLog?: number): EventStore {
  const events = openEvents(path, endOfLog);
  open.push(events);
  return events;
}

function reopen(events: EventStore): EventStore {
  open.splice(open.indexOf(events), 1);
  events.close();
  return openPath();
}

const marks = (events: readonly StoredEvent[]) => events.map(({ event }) => event.id.slice(-1)).join("");
const CAR = "car" as DeviceId;

test("an event is read as it was stored, also by the next process", () => {
  const ending = { reason: "moved", enteredMs: null, positions: 3 } as const;
  const revision = revisionAt(
    1_795_200_000_000,
    "1",
    { kind: "exit", ending, dueMs: 7, version: 3, deviceId: "ü\u{1f68c}" as DeviceId },
    { revision: 4, isLate: true, isWithdrawn: true, decidedMs: Number.POSITIVE_INFINITY },
  );
  const events = openPath();
  putAll(events, [revision]);
  expect(reopen(events).find(APP, revision.event.id)).toEqual({ ...revision, seq: revision.madeMs });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("transact() leaves nothing of what it wrote if it throws, and tells of events once they are stored", () => {
  const events = openPath(5);
  const seen: number[] = [];
  const apps: string[] = [];
  const stop = events.onAppended((appIds) => {
    seen.push(events.lastSeq());
    apps.push(...appIds);
  });
  const fails = () =>
    events.transact(() => {
      events.put(revisionAt(1, "1"));
      events.setPosition(9);
      throw new Error("no");
    });
  expect(fails).toThrow("no");
  expect([events.lastSeq(), events.position(), seen]).toEqual([0, 5, []]);
  events.transact(() => events.setPosition(10));
  expect(seen).toEqual([]);
  putAll(events, [revisionAt(1, "1"), revisionAt(2, "2")]);
  expect([events.position(), seen]).toEqual([10, [3]]);
  stop();
  putAll(events, [revisionAt(3, "3")]);
  expect(seen).toEqual([3]);
  expect(apps).toEqual([APP]); // Once, though it has two.
});

test("a new revision takes the place of the last one, behind all others", () => {
  const events = openPath();
  putAll(events, [revisionAt(1, "1"), revisionAt(2, "2")]);
  putAll(events, [revisionAt(1, "1", {}, { revision: 2, isWithdrawn: true })]);
  expect(marks(events.after(null, 0, 10))).toBe("21");
  expect(events.find(APP, revisionAt(1, "1").event.id)).toMatchObject({ seq: 4, revision: 2 });
});

test("lastSeq() does not go back if the last events go", () => {
  const events = openPath();
  putAll(events, [revisionAt(1, "1")]);
  events.database.run("DELETE FROM events");
  const again = reopen(events);
  expect(again.lastSeq()).toBe(2);
  putAll(again, [revisionAt(1, "2")]);
  expect(again.lastSeq()).toBe(3);
});

test("after() has the revisions behind a position, of an app or of all", () => {
  const events = openPath();
  const other = "other" as AppId;
  putAll(events, [
    revisionAt(4, "1"),
    revisionAt(3, "2", {}, { appId: other }),
    revisionAt(2, "3"),
    revisionAt(1, "4", {}, { isWithdrawn: true }),
  ]);
  const [first, second] = events.after(null, 0, 2).map(({ seq }) => seq);
  expect(marks(events.after(null, first!, 10))).toBe("234");
  expect(marks(events.after(APP, first!, 10))).toBe("34");
  expect(marks(events.after(APP, 0, 2))).toBe("13");
  expect(marks(events.after(other, second!, 2))).toBe("");
  expect([events.lastSeqOf(other), events.lastSeqOf("none" as AppId)]).toEqual([second!, 0]);
});

test("list() goes through a range by time, of an app, a device or a watch, in both orders", () => {
  const events = openPath();
  putAll(events, [
    revisionAt(30, "5", { deviceId: CAR }),
    revisionAt(10, "1"),
    revisionAt(20, "3", { watchId: "port" }),
    revisionAt(20, "2"),
    revisionAt(25, "4", { deviceId: CAR, watchId: "port" }),
    revisionAt(20, "9", {}, { appId: "other" as AppId }),
  ]);
  const range = { startMs: 10, endMs: 30 };
  const scope = { range, subject: null };
  expect(marks(events.list(APP, scope, "asc", null, 10))).toBe("1234");
  expect(marks(events.list(APP, scope, "desc", null, 3))).toBe("432");
  expect(marks(events.list(APP, { range, subject: { deviceId: CAR } }, "asc", null, 10))).toBe("4");
  expect(marks(events.list(APP, { range, subject: { watchId: "port" } }, "desc", null, 10))).toBe("43");
  const second = revisionAt(20, "2").event.id;
  expect(marks(events.list(APP, scope, "asc", second, 10))).toBe("34");
  expect(marks(events.list(APP, scope, "desc", second, 10))).toBe("1");
  const all = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  expect(marks(events.list(APP, { range: all, subject: null }, "desc", null, 10))).toBe("54321");
});

test("a full disk is told as such, loses nothing that was stored, and is no end", () => {
  const events = openPath();
  const many = Array.from({ length: 500 }, (_, index) => revisionAt(index, `${index}`));
  putAll(events, many.slice(0, 5));
  const { page_count } = events.database.prepare("PRAGMA page_count").find()!;
  events.database.prepare(`PRAGMA max_page_count = ${page_count}`).find();
  let failure: unknown = null;
  try {
    putAll(events, many);
  } catch (error) {
    failure = error;
  }
  expect([isDiskFull(failure), String(failure)]).toEqual([
    true,
    `FileError: Cannot use database "${path}": the disk is full (ENOSPC)`,
  ]);
  expect(events.after(null, 0, 10).length).toBe(5);
  events.database.prepare("PRAGMA max_page_count = 1000000").find();
  putAll(events, many);
  expect(reopen(events).after(null, 0, 1000).length).toBe(500);
});

describe("a file that can't be used", () => {
  test("of another version is refused and not touched", () => {
    for (const [version, writer] of [
      [3, "newer program"],
      [1, "program from before the first release"],
      [0, "program from before the first release"],
    ]) {
      const events = openPath();
      events.database.run(`PRAGMA user_version = ${version}`);
      open.pop();
      events.close();
      const before = Bun.file(path).lastModified;
      const database = openNodeSqlite(path);
      database.close();
      expect(() => openEvents(path)).toThrow(
        `Cannot open events "${path}": expected format version 2, found ${version}. A ${writer} wrote it.`,
      );
      expect(Bun.file(path).lastModified).toBe(before);
      rmSync(path);
    }
  });

  test("is damaged if it is no database, or another one", () => {
    writeFileSync(path, "not a database at all ".repeat(400));
    expect(() => openEvents(path)).toThrow(DamagedDatabaseError);
    rmSync(path);
    const other = openNodeSqlite(path);
    other.run("CREATE TABLE a (b)");
    other.close();
    expect(() => openEvents(path)).toThrow(
      `The database "${path}" is damaged: it is not a database of events`,
    );
  });
});
