import { expect, test } from "bun:test";
import { MessageError } from "../../../../src/cluster/log/group-message.ts";
import type { Result } from "../../../../src/lib/result.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import type { LogRefusal } from "../../../../src/wal/log.ts";
import { APP, COVERS_ALL, covers, dayBatch, namedBatch } from "../../wal/fixture.ts";
import { createServers, createTestLog, followed, keepNamed, nameOf } from "./fixture.ts";

async function openTestLog(options: Parameters<typeof createTestLog>[0]) {
  const { stream, told, opening } = createTestLog(options);
  const { wal } = await options.time.until(opening);
  return { stream, told, wal };
}

function kindOf(outcome: Result<number, LogRefusal>): string {
  return outcome.ok ? "ok" : outcome.error.kind;
}

test("append() resolves once the follower was told, in the order of the stream", async () => {
  const { time, servers } = createServers();
  const { wal } = await openTestLog({ servers, time });
  const told: string[] = [];
  wal.follow({
    makeRoomFor: async () => undefined,
    async take(entry, isOwn) {
      told.push(`${nameOf(entry)} ${isOwn}`);
      expect(wal.lastSequence).toBeGreaterThanOrEqual(entry.sequence);
      await time.wait(5);
    },
  });
  const appends = ["a", "b", "c"].map(async (name) => {
    const appended = await wal.append(APP, namedBatch(name));
    if (appended.ok) told.push(`answered ${name}`);
    return appended;
  });
  keepNamed(servers, "other");
  expect((await time.until(Promise.all(appends))).map(kindOf)).toEqual(["ok", "ok", "ok"]);
  for (const name of ["a", "b", "c"]) {
    const taken = told.findIndex((line) => line.endsWith(` ${name} true`));
    expect(told.indexOf(`answered ${name}`)).toBeGreaterThan(taken);
  }
  expect(told).toContain("1024 other false");
  await time.until(wal.close());
});

test("the next message waits until the follower has taken what came before", async () => {
  const { time, servers } = createServers();
  const { wal } = await openTestLog({ servers, time });
  const waiting: (() => void)[] = [];
  const taken: string[] = [];
  wal.follow({
    makeRoomFor: async () => undefined,
    take(entry) {
      taken.push(nameOf(entry));
      return new Promise<void>((resolve) => waiting.push(resolve));
    },
  });
  keepNamed(servers, "a", "b");
  keepNamed(servers, "c");
  await time.until(time.wait(100));
  expect([taken, wal.lastMessage]).toEqual([["1024 a", "1025 b"], 0]);
  waiting[0]!();
  await time.until(time.wait(100));
  expect(taken.length).toBe(2);
  waiting[1]!();
  await time.until(time.wait(100));
  expect([taken.at(-1), wal.lastMessage]).toEqual(["2048 c", 1]);
  waiting[2]!();
  await time.until(wal.close());
});

test("an unreadable message fails the log: appends are refused, and nothing is skipped", async () => {
  const { time, servers } = createServers();
  const { wal, told } = await openTestLog({ servers, time });
  const taken = followed(wal);
  expect(kindOf(await time.until(wal.append(APP, namedBatch("a"))))).toBe("ok");
  servers.keepForeign(new Uint8Array(24));
  const under = wal.append(APP, namedBatch("b"));
  expect(kindOf(await time.until(under))).toBe("log_failed");
  keepNamed(servers, "c");
  expect(kindOf(await time.until(wal.append(APP, namedBatch("d"))))).toBe("log_failed");
  await time.until(time.wait(100));
  expect([taken, wal.state, wal.queueBytes]).toEqual([["1024 a (own)"], "failed", 0]);
  expect(told.failures).toEqual([expect.any(MessageError)]);
  await time.until(wal.close(), 0);
  expect(wal.state).toBe("closed");
});

test("a follower that throws fails the log, once, and no append is left waiting", async () => {
  const { time, servers } = createServers();
  const { wal, told } = await openTestLog({ servers, time });
  wal.follow({
    makeRoomFor: async () => undefined,
    async take(entry) {
      await time.wait(3);
      throw new Error(`can't take ${nameOf(entry)}`);
    },
  });
  keepNamed(servers, "a", "b", "c");
  const appends = [1, 2, 3].map((name) => wal.append(APP, namedBatch(`${name}`)));
  expect((await time.until(Promise.all(appends))).map(kindOf)).toEqual(appends.map(() => "log_failed"));
  expect(told.failures.map(String)).toEqual(["Error: can't take 1024 a"]);
  await time.until(wal.close(), 0);
});

test("a stream that is made anew fails the log", async () => {
  const { time, servers } = createServers();
  const { wal, told } = await openTestLog({ servers, time });
  followed(wal);
  expect(kindOf(await time.until(wal.append(APP, namedBatch("a"))))).toBe("ok");
  servers.recreate("2026-03-03T00:00:00Z");
  await time.until(time.wait(10));
  expect([wal.state, told.failures.length]).toEqual(["failed", 1]);
  await time.until(wal.close(), 0);
});

test("close() ends in time without servers, and refuses new entries immediately", async () => {
  const { time, servers } = createServers();
  const { wal, stream } = await openTestLog({ servers, time, underWayMax: 1, giveUpMs: 1500 });
  followed(wal);
  stream.setCut(true);
  const appends = [namedBatch("a"), namedBatch("b")].map((batch) => wal.append(APP, batch));
  await time.until(time.wait(100));
  appends.push(wal.append(APP, namedBatch("c")));
  const startedMs = time.nowMs();
  const closing = wal.close();
  expect(kindOf(await wal.append(APP, namedBatch("late")))).toBe("log_closed");
  await time.until(closing);
  expect(time.nowMs() - startedMs).toBe(500); // Though they would be waited for three times as long.
  expect((await Promise.all(appends)).map(kindOf)).toEqual(appends.map(() => "log_closed"));
  await time.until(time.wait(100));
  expect([time.planned, wal.queueBytes, stream.underWay]).toEqual([0, 0, 0]);
});

test("close() finishes what was appended", async () => {
  const { time, servers } = createServers();
  const { wal } = await openTestLog({ servers, time });
  const taken = followed(wal);
  const appends = Array.from({ length: 30 }, (_, name) => wal.append(APP, namedBatch(`${name}`)));
  await time.until(wal.close());
  expect((await Promise.all(appends)).map(kindOf)).toEqual(appends.map(() => "ok"));
  expect(taken.length).toBe(30);
  expect(wal.close()).toBe(wal.close());
});

test("append() says of an entry that no message can hold that it is too long", async () => {
  const { time, servers } = createServers();
  const { wal } = await openTestLog({ servers, time, messageBytesMax: 2000 });
  followed(wal);
  const outcomes = [namedBatch("x".repeat(100)), namedBatch("x".repeat(2000))].map((batch) =>
    wal.append(APP, batch),
  );
  expect((await time.until(Promise.all(outcomes))).map(kindOf)).toEqual(["ok", "log_entry_too_long"]);
  await time.until(wal.close());
});

test("the state is full while the stream is, and open again once an entry was taken", async () => {
  const { time, servers } = createServers();
  const { wal } = await openTestLog({ servers, time });
  followed(wal);
  servers.isFull = true;
  expect(kindOf(await time.until(wal.append(APP, namedBatch("a"))))).toBe("log_full");
  expect(wal.state).toBe("full");
  servers.isFull = false;
  await time.until(wal.append(APP, namedBatch("b")));
  await time.until(time.wait(20));
  expect(wal.state).toBe("open");
  await time.until(wal.close());
});

test("trim() stores the last applied message, of this process or of an earlier one", async () => {
  const { time, servers } = createServers();
  const first = await openTestLog({ servers, time, node: "first" });
  followed(first.wal);
  await first.wal.trim(COVERS_ALL);
  await time.until(first.wal.append(APP, dayBatch("a", [1])));
  await first.wal.trim(COVERS_ALL);
  const lastTaken = { number: 1, id: "first.0" };
  expect(first.told.taken).toEqual([null, lastTaken]);
  await time.until(first.wal.close());

  const second = await openTestLog({ servers, time, node: "second", fromMessage: 2, lastTaken });
  followed(second.wal);
  await second.wal.trim(COVERS_ALL);
  await time.until(second.wal.append(APP, dayBatch("b", [2])));
  await second.wal.trim(COVERS_ALL);
  expect(second.told.taken).toEqual([lastTaken, { number: 2, id: "second.0" }]);
  await time.until(second.wal.close());
});

test("trim() tells the first message that a start needs, be it of a message that is just taken", async () => {
  const { time, servers } = createServers();
  const { wal, told } = await openTestLog({ servers, time });
  followed(wal);
  const append = (days: readonly number[]) => time.until(wal.append(APP, dayBatch(`${days}`, days)));
  await append([1]);
  await append([2]);
  await time.until(wal.rotate());
  await append([1, 2]);
  expect([...wal.currentDays]).toEqual([1, 2] as UtcDay[]);
  await wal.rotate();
  await append([3]);
  expect([...wal.currentDays]).toEqual([3] as UtcDay[]);
  await wal.trim(covers(1));
  await wal.trim({
    isCovered: (day, sequence) => (day as number) < 3 && sequence <= 2048,
    isExpired: () => false,
    standingSequence: 0,
    erasures: [],
  });
  expect([wal.mayHold(1 as UtcDay), wal.mayHold(4 as UtcDay)]).toEqual([true, false]);
  await wal.trim(covers(1, 2));
  expect(wal.mayHold(1 as UtcDay)).toBe(false);
  await wal.trim(COVERS_ALL); // What is being filled stays.
  await wal.rotate();
  await wal.trim(COVERS_ALL);
  expect(told.floors).toEqual([1, 3, 4, 4, 5]);
  expect(wal.bytes).toBe(0);
  await time.until(wal.close());
  await wal.trim(COVERS_ALL);
  expect(told.floors.length).toBe(5);
});

test("what a follower has in its hands is noted already: a floor never passes it", async () => {
  const { time, servers } = createServers();
  const { wal, told } = await openTestLog({ servers, time });
  const { promise, resolve } = Promise.withResolvers<void>();
  wal.follow({ makeRoomFor: async () => undefined, take: () => promise });
  const appending = wal.append(APP, dayBatch("a", [4]));
  await time.until(appending);
  expect([wal.mayHold(4 as UtcDay), [...wal.currentDays]]).toEqual([true, [4 as UtcDay]]);
  await wal.rotate();
  await wal.trim(COVERS_ALL);
  expect(told.floors).toEqual([1]); // Covered or not: it may not be in memory yet.
  expect(told.taken).toEqual([{ number: 1, id: "n.0" }]);
  resolve();
  await time.until(wal.close());
});

test("close() does not wait for an entry that waits for a seal which never comes, and counts it as not applied", async () => {
  const { time, servers } = createServers();
  const { opening, told } = createTestLog({ servers, time });
  const { wal } = await time.until(opening);
  wal.follow({ makeRoomFor: async () => undefined, take: () => new Promise(() => {}) });
  keepNamed(servers, "a");
  await time.pass(100);
  await time.until(wal.close());
  expect([wal.lastMessage, told.failures]).toEqual([0, []]);
});
