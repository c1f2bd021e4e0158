import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { NumberedRequest } from "../../../../../src/archive/write/engine/messages.ts";
import { nextTurn, systemTimers, type Timers } from "../../../../../src/lib/schedule/timers.ts";
import { createManualClock } from "../../../../../src/model/time/clock.ts";
import type { StartHelper } from "../../../../../src/runtime/helper/helper.ts";
import { startHelper } from "../../../../../src/runtime/helper/spawn-helper.ts";
import { createNodeFiles } from "../../../../../src/runtime/node-files.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../../support/archive-app.ts";
import { VirtualTime } from "../../../../support/stream/virtual-time.ts";
import { childrenOf } from "../../../archive/write/engine/processes.ts";

/** Goal: a seal does the same in a process of its own, and one that can't have it, or loses it, loses nothing else. */

afterAll(removeArchiveApps);

const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = NOW_MS - 20 * 86_400_000;

async function openWith(helper: StartHelper, timers: Timers = systemTimers): Promise<ArchiveApp> {
  const disk = { files: createNodeFiles(), startHelper: helper, timers };
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

function stopChildren(): void {
  for (const { pid } of childrenOf(process.pid)) process.kill(pid, "SIGSTOP");
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
});

if (process.platform === "linux") {
  test("a seal whose process stops at any request ends after minutes, and the next one does it", async () => {
    const time = new VirtualTime();
    let stopping = 2;
    let stopped = Promise.withResolvers<void>();
    let isToldToEnd = false;
    const app = await openWith((script, events) => {
      let requests = 0;
      const helper = startHelper(script, events);
      return {
        ...helper,
        send(message) {
          const stops = ++requests === stopping;
          if (stops) stopChildren(); // Before it can answer.
          helper.send(message);
          if (stops) stopped.resolve();
        },
        end() {
          isToldToEnd = true;
          helper.end();
        },
      };
    }, time);
    let failures = 0;
    for (; stopping < 50; stopping += 2) {
      const sealing = app.seal().then(
        () => "sealed",
        (error: unknown) => String(error),
      );
      if ((await Promise.race([sealing, stopped.promise])) === "sealed") break;
      while (!isToldToEnd) {
        time.step();
        await nextTurn(); // It may be asked only once the disk has a file.
      }
      expect(await sealing).toContain("did nothing for 3 minutes, and was ended");
      failures++;
      expect([await countShown(app), childrenOf(process.pid)]).toEqual([100, []]);
      expect([app.directory.hot.daysInMemory().length, scratchOf(app)]).toEqual([1, []]);
      stopped = Promise.withResolvers();
      isToldToEnd = false;
    }
    expect(failures).toBeGreaterThan(2);
    expect([app.directory.hot.daysInMemory(), app.notes, await countShown(app)]).toEqual([[], [], 100]);
    await app.close();
  });

  test("a server stops at once while the process that makes parts is stopped", async () => {
    const stopped = Promise.withResolvers<void>();
    const app = await openWith((script, events) => {
      const helper = startHelper(script, events);
      return {
        ...helper,
        send(message) {
          stopChildren();
          helper.send(message);
          stopped.resolve();
        },
      };
    }, new VirtualTime());
    const sealing = app.seal().catch((error: unknown) => error);
    await stopped.promise;
    await app.close();
    expect(await sealing).toMatchObject({ name: "AbortError" });
    expect([childrenOf(process.pid), scratchOf(app)]).toEqual([[], []]);
  });
}

test("a process that can't be ended holds neither later seals nor the stop of the server", async () => {
  const time = new VirtualTime();
  let hangs = true;
  const began = Promise.withResolvers<void>();
  const app = await openWith((script, events) => {
    const helper = startHelper(script, events);
    if (!hangs) return helper;
    // The process goes on to its end, and nothing is heard of it any more.
    let requests = 0;
    return {
      send(message) {
        if (++requests === 1) helper.send(message);
        else began.resolve();
      },
      end: () => undefined,
    };
  }, time);
  const sealing = app.seal().then(
    () => "sealed",
    (error: unknown) => String(error),
  );
  await began.promise;
  expect(await time.until(sealing)).toContain("did nothing");
  expect(app.notes).toEqual([expect.stringContaining("can't be ended")]);
  expect(await countShown(app)).toBe(100);
  hangs = false;
  expect((await app.seal()).records).toBe(100);
  for (const { pid } of childrenOf(process.pid)) process.kill(pid, "SIGKILL");
  await app.close();
});
