import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemTimers } from "../../../../src/lib/schedule/timers.ts";
import type { StartHelper } from "../../../../src/runtime/helper/helper.ts";
import { startHelper } from "../../../../src/runtime/helper/spawn-helper.ts";
import { Checkpoints } from "../../../../src/service/watching/checkpoints.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import { openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { until } from "../../../support/until.ts";

/* Checkpoints of a real database by a real process. */

const SCRIPT = new URL("../../../../src/app/event-checkpointer.ts", import.meta.url);
const ALONE = "PRAGMA wal_autocheckpoint";

let directory = "";
let events: EventStore;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "wherehouse-checkpoints-"));
  events = openEvents(join(directory, "events.sqlite"));
});
afterEach(() => {
  events.close();
  rmSync(directory, { recursive: true });
});

function checkpointBy(start: StartHelper): void {
  const timers = { ...systemTimers, after: (_ms: number, call: () => void) => systemTimers.after(0, call) };
  const path = join(directory, "events.sqlite");
  new Checkpoints({ events, path, startHelper: start, script: SCRIPT, timers }).start();
}

/** Stores events until more pages wait than SQLite leaves by itself. */
function fill(): void {
  for (let round = 0; round < 40; round++)
    putAll(
      events,
      Array.from({ length: 100 }, (_, i) => revisionAt(round * 1000 + i, `${i}`)),
    );
  expect(events.pages().waiting).toBeGreaterThan(1000);
}

test("a process moves what waits into the database, and SQLite does not by itself then", async () => {
  checkpointBy(startHelper);
  fill();
  await until(() => events.pages().waiting === 0);
  await until(() => events.database.prepare(ALONE).find()!.wal_autocheckpoint === 16_384);
  expect(events.checkpoint()).toBe(true);
});

test("if no process can be started, SQLite does it by itself", async () => {
  checkpointBy((_script, { onEnd }) => {
    queueMicrotask(() => onEnd("there are no processes"));
    return { send() {}, end() {} };
  });
  fill();
  await until(() => events.database.prepare(ALONE).find()!.wal_autocheckpoint === 1000);
  putAll(events, [revisionAt(7, "x")]);
  expect(events.pages().waiting).toBe(0);
});
