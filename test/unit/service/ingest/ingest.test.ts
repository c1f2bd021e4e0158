import { expect, test } from "bun:test";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { Steps } from "../../../../src/lib/schedule/steps.ts";
import { utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { FileError } from "../../../../src/runtime/files.ts";
import { applyToMemory } from "../../../../src/service/ingest/apply-entry.ts";
import { createIngest, ingestBatches } from "../../../../src/service/ingest/ingest.ts";
import { followLog } from "../../../../src/service/ingest/memory-follower.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../../support/disk/simulated-files.ts";
import { NO_SEALS } from "../../../support/empty-archive.ts";
import { APP, batchOf } from "../../../support/reports/batches.ts";
import { blocksOf, NO_BLOCKS } from "../../../support/reports/blocks.ts";
import { openTestWal } from "../../wal/fixture.ts";

const REPORT = { device_id: "bus", timestamp: 1_769_442_912_000, latitude: 1, longitude: 2 };
const BATCH = batchOf([REPORT]);

/** A start over whatever is on the disk. */
async function openIngest(files: SimulatedFiles, scheduler = new Scheduler(), blocks = NO_BLOCKS) {
  const hot = createHotStore(scheduler);
  const { wal: log, recovery } = await openTestWal(files, {
    onEntry: (entry) => applyToMemory({ hot, messages: null }, entry),
  });
  const hasWholeLog = recovery.readUpTo === Number.POSITIVE_INFINITY;
  const memory = followLog({ log, hot, messages: null, schedule: NO_SEALS, scheduler });
  const ingest = createIngest({
    blocks,
    log,
    hot,
    memory,
    schedule: NO_SEALS,
    onRefusal: () => {},
    hasWholeLog,
  });
  return { ingest, log, hot };
}

test("ingest() calls nothing known while the log has failed: memory may show what the disk has not", async () => {
  const files = createSimulatedFiles();
  await (await openIngest(files)).ingest(APP, BATCH);
  files.failNext("sync", "EIO");
  const { ingest, log, hot } = await openIngest(files);
  expect([log.state, hot.recordCount]).toEqual(["failed", 1]);
  const repeated = await ingest(APP, BATCH);
  expect(repeated.ok ? null : repeated.error.kind).toBe("unavailable");
});

test("ingest() logs what memory knows while a segment can't be read, which may say otherwise", async () => {
  const files = createSimulatedFiles();
  await (await openIngest(files)).ingest(APP, BATCH);
  await (await openIngest(files)).ingest(APP, batchOf([{ ...REPORT, latitude: 5 }]));
  const hidden = [...files.contents().keys()].sort().at(-1);
  files.beforeOperation = (operation, path) => {
    if (operation === "read" && path === hidden) throw new FileError(operation, path, "EIO");
  };
  const { ingest, hot } = await openIngest(files);
  expect(hot.findRepeated(APP, BATCH)).not.toBeNull();
  const repeated = await ingest(APP, BATCH);
  expect(repeated.ok).toBe(true);
  files.beforeOperation = null;
  expect((await openIngest(files)).hot.findRepeated(APP, BATCH)).not.toBeNull(); // It was said last.
});

test("ingest() waits for a step of each app and no more, whatever they are called", async () => {
  let nowMs = 0;
  const scheduler = new Scheduler(() => nowMs);
  function* long(): Steps<void> {
    for (let step = 0; step < 3; step++) {
      nowMs += 6;
      yield;
    }
  }
  const { ingest } = await openIngest(createSimulatedFiles(), scheduler);
  const all = Array.from({ length: 1000 }, () => scheduler.run("memory", long()));
  const startMs = nowMs;
  expect((await ingest(APP, BATCH)).ok).toBe(true);
  expect(nowMs - startMs).toBeLessThan(500 * 6); // Some turns pass until the disk has it.
  await Promise.all(all);
});

test("ingest() has so much of an app under way and no more, and takes all in, in the order of the log", async () => {
  const { log, hot } = await openIngest(createSimulatedFiles());
  const underWay = new Map<string, number>();
  let most = 0;
  const applied: number[] = [];
  const watched: typeof hot = {
    ...hot,
    apply(appId, batch, sequence) {
      applied.push(sequence);
      return hot.apply(appId, batch, sequence);
    },
  };
  const ingest = createIngest({
    blocks: NO_BLOCKS,
    log: {
      state: "open",
      lastSequence: 0,
      async append(appId, batch) {
        const size = batch.count + batch.texts.length;
        underWay.set(appId, (underWay.get(appId) ?? 0) + size);
        most = Math.max(most, ...underWay.values());
        const appended = await log.append(appId, batch);
        underWay.set(appId, underWay.get(appId)! - size);
        return appended;
      },
    },
    hot: watched,
    memory: followLog({ log, hot: watched, messages: null, schedule: NO_SEALS, scheduler: new Scheduler() }),
    schedule: NO_SEALS,
    onRefusal: () => {},
    hasWholeLog: true,
  });
  const answers = await Promise.all(
    Array.from({ length: 24 }, (_, index) => {
      const reports = Array.from({ length: 1000 }, (_, row) => ({
        ...REPORT,
        timestamp: REPORT.timestamp + index * 1000 + row,
        brand: `${index}-${row}`,
        model: `${row}-${index}`,
        os: `${row}+${index}`,
      }));
      return ingest((index % 2 === 0 ? APP : "other") as typeof APP, batchOf(reports));
    }),
  );
  expect(most).toBeWithin(36_000, 40_000); // Nine of 1,000 reports and 3,000 texts.
  expect(answers.map((answer) => (answer.ok ? answer.value.accepted : answer.error))).toEqual(
    answers.map(() => 1000),
  );
  expect(applied).toEqual(applied.map((_, index) => index + 1));
  expect(hot.recordCount).toBe(24_000);
});

/** Reports of these devices, each a second after the one before. */
function reportsOf(...deviceIds: readonly string[]) {
  return deviceIds.map((device_id, index) => ({
    ...REPORT,
    device_id,
    timestamp: REPORT.timestamp + 1000 * index,
    user_id: device_id === "cab" ? "ann" : "ben",
  }));
}

test("ingest() stores nothing of a blocked device or user, and tells which rows that are", async () => {
  const files = createSimulatedFiles();
  const { ingest, log, hot } = await openIngest(files, new Scheduler(), blocksOf("bus", "ann"));
  const taken = await ingest(APP, batchOf(reportsOf("bus", "van", "cab", "van", "bus")));
  expect(taken).toMatchObject({
    ok: true,
    value: { accepted: 2, created: 2, blocked: [0, 2, 4], sequence: 1 },
  });
  const none = await ingest(APP, batchOf(reportsOf("bus", "cab")));
  expect(none).toMatchObject({
    ok: true,
    value: { accepted: 0, duplicates: 0, blocked: [0, 1], sequence: 1 },
  });
  expect([hot.recordCount, log.lastSequence]).toEqual([2, 1]);
  const bytes = Buffer.concat([...files.contents().values()]);
  expect(["van", "ben", "bus", "cab", "ann"].filter((text) => bytes.includes(text))).toEqual(["van", "ben"]);
});

test("ingestBatches() names blocked rows and late ones as of one batch", async () => {
  const { ingest, hot } = await openIngest(createSimulatedFiles(), new Scheduler(), blocksOf("bus"));
  hot.setSealed(new Map([[utcDayOf(REPORT.timestamp), 0]]), true);
  const batches = [["bus", "van"], ["bus"], ["van", "bus", "cab"]].map((ids) => batchOf(reportsOf(...ids)));
  const taken = await ingestBatches(ingest, APP, batches);
  expect(taken).toMatchObject({
    ok: true,
    value: { accepted: 3, blocked: [0, 2, 4], createdLate: [1, 3, 5] },
  });
});

test("ingest() looks for blocks when it appends, however long the batch has waited", async () => {
  let blocks = NO_BLOCKS;
  const { ingest, hot } = await openIngest(createSimulatedFiles(), new Scheduler(), {
    blocked: (appId) => blocks.blocked(appId),
  });
  const large = Array.from({ length: 40 }, (_, index) =>
    ingest(
      APP,
      batchOf(
        Array.from({ length: 1000 }, (_, row) => ({
          ...REPORT,
          device_id: "van",
          timestamp: REPORT.timestamp + index * 1000 + row,
          brand: `${index}-${row}`,
        })),
      ),
    ),
  );
  const last = ingest(APP, batchOf(reportsOf("bus"))); // Waits for the app's share.
  blocks = blocksOf("bus");
  expect(await last).toMatchObject({ ok: true, value: { accepted: 0, blocked: [0] } });
  await Promise.all(large);
  expect(hot.recordCount).toBe(40_000);
});
