import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NumberedRequest } from "../../../src/archive/write/engine/messages.ts";
import { startHelper } from "../../../src/runtime/helper/fork-helper.ts";
import type { StartHelper } from "../../../src/runtime/helper/helper.ts";
import { createNodeFiles } from "../../../src/runtime/node-files.ts";
import { createManualClock } from "../../../src/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";

/** Goal: a seal does the same in a process of its own, and one that can't have it, or loses it, loses nothing else. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = NOW_MS - 20 * 86_400_000;

async function openWith(helper: StartHelper): Promise<ArchiveApp> {
  const disk = { files: createNodeFiles(), startHelper: helper };
  const app = await createArchiveApp({ clock: createManualClock(NOW_MS), disk });
  await app.store(rowsFrom(0));
  return app;
}

function rowsFrom(first: number) {
  return Array.from({ length: 100 }, (_, row) => ({
    device_id: `d${row % 7}`,
    timestamp: OLD_MS + (first + row) * 1000,
    latitude: 1,
    longitude: 2,
  }));
}

async function countShown(app: ArchiveApp): Promise<number> {
  const { body } = await app.get(
    "/api/v1/locations/history?start_date=2026-01-01&end_date=2026-01-28&limit=1000",
  );
  return body.locations.length;
}

function scratchOf({ dataDir }: ArchiveApp): string[] {
  return readdirSync(join(dataDir, "archive/scratch"));
}

/** Puts what DuckDB would, of rows that do not fit its memory, and never removes where it is killed. */
function spill({ request }: NumberedRequest): void {
  if (request.kind !== "open") return;
  const { spillDirectory } = request.database;
  mkdirSync(spillDirectory!, { recursive: true });
  writeFileSync(join(spillDirectory!, "spilled.tmp"), "rows");
}

test("a day is archived by the process, and folded by the next one", async () => {
  const app = await openWith(startHelper);
  expect((await app.seal()).records).toBe(100);
  await app.store(rowsFrom(49));
  expect((await app.seal()).records).toBe(100);
  expect(await countShown(app)).toBe(149);
  expect(app.directory.hot.daysInMemory()).toEqual([]);
  expect([app.notes, scratchOf(app)]).toEqual([[], []]);
  await app.close();
});

test("a seal that is broken off while its process begins leaves nothing behind", async () => {
  const began = Promise.withResolvers<void>();
  const app = await openWith((_, { onEnd }) => {
    began.resolve();
    return { send() {}, end: () => queueMicrotask(() => onEnd("SIGKILL")) };
  });
  const sealing = app.seal().catch((error: unknown) => error);
  await began.promise;
  await app.close();
  expect(await sealing).toMatchObject({ name: "AbortError" });
  expect([app.notes, scratchOf(app)]).toEqual([[], []]);
});

test("without a process a seal is made in ours, which is said", async () => {
  const app = await openWith((_, { onEnd }) => {
    queueMicrotask(() => onEnd("no room for another"));
    return { send() {}, end() {} };
  });
  expect((await app.seal()).records).toBe(100);
  expect(app.notes).toEqual([expect.stringContaining("no room for another")]);
  expect(await countShown(app)).toBe(100);
  await app.close();
});

test("a seal whose process is killed at any request leaves all in memory, and the next one does it", async () => {
  let dying = 3; // Not at the first, with which it begins.
  const app = await openWith((script, events) => {
    let requests = 0;
    const helper = startHelper(script, events);
    return {
      ...helper,
      send(message) {
        spill(message as NumberedRequest);
        helper.send(message);
        if (++requests === dying) helper.end();
      },
    };
  });
  let failures = 0;
  for (; dying < 50; dying += 2) {
    try {
      await app.seal();
      break;
    } catch (error) {
      expect(String(error)).toContain("ended: SIGKILL");
      failures++;
    }
    expect(await countShown(app)).toBe(100);
    expect([app.directory.hot.daysInMemory().length, scratchOf(app)]).toEqual([1, []]);
  }
  expect(failures).toBeGreaterThan(2);
  expect(app.directory.hot.daysInMemory()).toEqual([]);
  expect(await countShown(app)).toBe(100);
  await app.close();
}, 60_000);
