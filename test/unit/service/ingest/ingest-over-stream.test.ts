import { expect, test } from "bun:test";
import { MessageError } from "../../../../src/cluster/log/group-message.ts";
import type { AppliedBatch } from "../../../../src/hot/batch-writer.ts";
import { createHotStore, type HotStore } from "../../../../src/hot/hot-store.ts";
import { AssertionError } from "../../../../src/lib/assert.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { createIngest } from "../../../../src/service/ingest/ingest.ts";
import type { FollowedSchedule } from "../../../../src/service/ingest/memory-follower.ts";
import { followLog } from "../../../../src/service/ingest/memory-follower.ts";
import type { LogRefusal } from "../../../../src/wal/log.ts";
import { createReferenceRecords } from "../../../reference/records.ts";
import { NO_SEALS } from "../../../support/empty-archive.ts";
import { APP, batchOf, type Report } from "../../../support/reports/batches.ts";
import { NO_BLOCKS } from "../../../support/reports/blocks.ts";
import { createServers, createTestLog, GIVE_UP_MS } from "../../cluster/log/fixture.ts";

const BASE_MS = 1_769_442_912_000;

async function openIngest({
  messageBytesMax = 1024 * 1024,
  schedule = NO_SEALS,
  plant = (hot: HotStore) => hot,
}: {
  messageBytesMax?: number;
  schedule?: FollowedSchedule;
  plant?(hot: HotStore): HotStore;
} = {}) {
  const { time, servers } = createServers();
  const scheduler = new Scheduler(() => 0);
  const hot = plant(createHotStore(scheduler));
  const refusals: LogRefusal[] = [];
  const { stream, told, opening } = createTestLog({ servers, time, messageBytesMax });
  const { wal: log } = await time.until(opening);
  const memory = followLog({ log, hot, messages: null, schedule, scheduler, timers: time });
  const ingest = createIngest({
    blocks: NO_BLOCKS,
    log,
    hot,
    memory,
    schedule,
    onRefusal: (refusal) => refusals.push(refusal),
    hasWholeLog: false,
  });
  return { time, servers, stream, told, log, hot, refusals, ingest };
}

/** Reports of which every third is one that was there before. */
function reportsOf(count: number, brand = (row: number) => `brand ${row}`): Report[] {
  return Array.from({ length: count }, (_, row) => {
    const first = row % 3 === 2 ? row - 1 : row;
    return { device_id: "bus", timestamp: BASE_MS + first, latitude: 1, longitude: 2, brand: brand(first) };
  });
}

test("ingest() splits a batch that is longer than a message, and answers for all of it", async () => {
  for (const count of [2, 3, 50, 333]) {
    const { time, servers, ingest, hot, log } = await openIngest({ messageBytesMax: 600 });
    const reports = reportsOf(count);
    const model = createReferenceRecords(APP);
    for (let pass = 0; pass < 2; pass++) {
      const recordsBefore = hot.recordCount;
      const accepted = model.report(reports);
      const answer = await time.until(ingest(APP, batchOf(reports)));
      const { lastSequence } = log;
      expect(answer).toEqual({
        ok: true,
        value: {
          accepted,
          duplicates: count - accepted,
          created: hot.recordCount - recordsBefore,
          outranked: 0,
          createdLate: [],
          repeated: 0,
          blocked: [],
          sequence: lastSequence,
        },
      });
    }
    expect(hot.recordCount).toBe(model.records().length);
    for (const { bytes } of servers.messages) expect(bytes.length).toBeLessThanOrEqual(600);
    if (count > 50) expect(servers.messages.length).toBeGreaterThan(8);
    await time.until(log.close());
  }
});

test("ingest() says that it took nothing where the second half is refused; sent again, the first half is known", async () => {
  const { time, servers, ingest, hot, refusals, log } = await openIngest({ messageBytesMax: 400 });
  const reports = reportsOf(40);
  const watched = servers.watch(() => {
    servers.isFull = servers.messages.length >= 2;
  });
  const answer = await time.until(ingest(APP, batchOf(reports)));
  expect(answer.ok ? null : answer.error.kind).toBe("unavailable");
  expect(refusals.map(({ kind }) => kind)).toEqual(["log_full"]);
  const known = hot.recordCount;
  expect(known).toBeGreaterThan(0);
  watched();
  servers.isFull = false;
  const model = createReferenceRecords(APP);
  const accepted = model.report(reports) - known;
  const again = await time.until(ingest(APP, batchOf(reports)));
  expect(again).toEqual({
    ok: true,
    value: {
      accepted,
      duplicates: reports.length - accepted,
      created: hot.recordCount - known,
      outranked: 0,
      createdLate: [],
      repeated: 0,
      blocked: [],
      sequence: log.lastSequence,
    },
  });
  expect(hot.recordCount).toBe(model.records().length);
  await time.until(log.close());
});

test("ingest() refuses a report that no message can hold, and takes those before it", async () => {
  const { time, ingest, hot, refusals, log } = await openIngest({ messageBytesMax: 400 });
  const reports = reportsOf(8, (row) => (row === 6 ? "\u{1F68C}".repeat(64) : `${row}`));
  const answer = await time.until(ingest(APP, batchOf(reports)));
  expect(answer.ok ? null : answer.error).toMatchObject({ kind: "unavailable", retryAfterSeconds: 60 });
  expect(refusals.map(({ kind }) => kind)).toEqual(["log_entry_too_long"]);
  expect(hot.recordCount).toBe(4); // Of rows 0 to 5, of which two repeat others.
  await time.until(log.close());
});

test("a broken store fails the log and those who wait for it, and nothing else", async () => {
  const unhandled: unknown[] = [];
  const onUnhandled = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", onUnhandled);
  let applied = 0;
  const { time, servers, ingest, told, log } = await openIngest({
    plant: (hot) => ({
      ...hot,
      apply(...entry): AppliedBatch {
        if (++applied === 3) throw new AssertionError("a row lies in its chunk");
        return hot.apply(...entry);
      },
    }),
  });
  const posts = Array.from({ length: 8 }, (_, row) =>
    ingest(APP, batchOf([{ device_id: `${row}`, timestamp: BASE_MS, latitude: 1, longitude: 2 }])),
  );
  const outcomes = await time.until(Promise.allSettled(posts));
  const broken = outcomes.filter(({ status }) => status === "rejected");
  // None that comes after it is laid over memory: a seal would cover the one that is missing.
  expect([broken.length, applied, told.failures]).toEqual([1, 3, [expect.any(MessageError)]]);
  expect(String(told.failures[0])).toMatch(
    /^MessageError: Message 3 of the stream .* entry 3072 of the log .* a row lies in its chunk/,
  );
  expect([servers.messages.length > 0, log.state]).toEqual([true, "failed"]);
  const later = await time.until(ingest(APP, batchOf(reportsOf(1))));
  expect(later.ok ? null : later.error.kind).toBe("unavailable");
  await time.until(log.close(), 0);
  await time.until(time.wait(1000));
  expect(unhandled).toEqual([]);
  process.off("unhandledRejection", onUnhandled);
});

test("where no server answers nobody waits longer than those who are under way", async () => {
  const { time, stream, ingest, hot, log } = await openIngest();
  stream.setCut(true);
  const batchAt = (index: number) =>
    batchOf(
      Array.from({ length: 1000 }, (_, row) => ({
        device_id: "bus",
        timestamp: BASE_MS + index * 1000 + row,
        latitude: 1,
        longitude: 2,
      })),
    );
  const posts = Array.from({ length: 150 }, (_, index) => ingest(APP, batchAt(index))); // 39 find room.
  const outcomes = await time.until(Promise.all(posts));
  expect(outcomes.map((outcome) => (outcome.ok ? "ok" : outcome.error.kind))).toEqual(
    posts.map(() => "unavailable"),
  );
  expect(time.nowMs()).toBeLessThanOrEqual(GIVE_UP_MS + 10);
  stream.setCut(false);
  const later = await time.until(
    Promise.all(Array.from({ length: 150 }, (_, index) => ingest(APP, batchAt(index)))),
  );
  expect(later.every(({ ok }) => ok)).toBe(true);
  expect(hot.recordCount).toBe(150_000);
  await time.until(log.close());
});

test("an answer waits until memory shows the report, behind what other nodes have sent before", async () => {
  const { time, servers, ingest, hot, log } = await openIngest();
  let shown = 0;
  const posts = Array.from({ length: 20 }, async (_, row) => {
    await time.wait(row * 3);
    const answer = await ingest(
      APP,
      batchOf([{ device_id: `${row}`, timestamp: BASE_MS, latitude: 1, longitude: 2 }]),
    );
    expect(answer.ok && hot.appliedSequence >= answer.value.sequence).toBe(true);
    shown++;
  });
  await time.until(Promise.all(posts));
  expect([shown, hot.recordCount, servers.messages.length > 1]).toEqual([20, 20, true]);
  await time.until(log.close());
});

test("what other nodes report waits while too much waits for the archive, and closing does not wait for it", async () => {
  let hasRoom = true;
  let askedToSeal = 0;
  const schedule = {
    hasRoomFor: () => true,
    hasRoomToFollow: () => hasRoom,
    foldLate: async () => {},
    noteReports: () => void askedToSeal++,
  };
  const { time, servers, ingest, hot, log } = await openIngest({ schedule });
  const other = await openIngest();
  expect((await other.time.until(other.ingest(APP, batchOf(reportsOf(3))))).ok).toBe(true);
  const { bytes } = other.servers.messages[0]!;

  hasRoom = false;
  servers.keepForeign(bytes);
  await time.until(time.wait(60_000));
  expect([hot.recordCount, askedToSeal > 0]).toEqual([0, true]);
  hasRoom = true;
  await time.until(time.wait(1000));
  expect((await time.until(ingest(APP, batchOf(reportsOf(1))))).ok).toBe(true);
  expect(hot.recordCount).toBe(2);

  hasRoom = false;
  servers.keepForeign(bytes);
  await time.until(time.wait(100));
  await time.until(log.close());
  expect(log.state).toBe("closed");
  await other.time.until(other.log.close());
});
