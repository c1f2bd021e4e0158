import { expect, test } from "bun:test";
import { createHotStore } from "../../src/hot/hot-store.ts";
import { FileError } from "../../src/runtime/files.ts";
import { createIngest } from "../../src/service/ingest.ts";
import { APP, batchOf } from "../support/batches.ts";
import { NO_SEALS } from "../support/empty-archive.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../support/simulated-files.ts";
import { openTestWal } from "../wal/fixture.ts";

const REPORT = { device_id: "bus", timestamp: 1_769_442_912_000, latitude: 1, longitude: 2 };
const BATCH = batchOf([REPORT]);

/** A start over whatever is on the disk. */
async function openIngest(files: SimulatedFiles) {
  const hot = createHotStore();
  const { wal: log, recovery } = await openTestWal(files, {
    onEntry: ({ appId, batch, sequence }) => hot.apply(appId, batch, sequence),
  });
  const hasWholeLog = recovery.readUpTo === Number.POSITIVE_INFINITY;
  const ingest = createIngest({ log, hot, schedule: NO_SEALS, onRefusal: () => {}, hasWholeLog });
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
  expect(hot.repeats(APP, BATCH)).toBe(true);
  const repeated = await ingest(APP, BATCH);
  expect(repeated.ok).toBe(true);
  files.beforeOperation = null;
  expect((await openIngest(files)).hot.repeats(APP, BATCH)).toBe(true); // It was said last.
});
