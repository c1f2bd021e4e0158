import { expect, test } from "bun:test";
import { systemTimers } from "../../../src/lib/schedule/timers.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome } from "../../support/rejection.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { turns } from "../../support/turns.ts";
import { APP, appendNamed, COVERS_ALL, LOG, namedBatch, openTestWal, segmentPaths } from "./fixture.ts";

/** Holds the next operation of this kind until `release`; `reached` resolves when it is there. */
function hold(files: ReturnType<typeof createSimulatedFiles>, operation: string) {
  const reached = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  files.beforeOperation = async (name) => {
    if (name !== operation) return;
    files.beforeOperation = null;
    reached.resolve();
    await held.promise;
  };
  return { reached: reached.promise, release: held.resolve };
}

test("openWal() of nothing is an empty log", async () => {
  const files = createSimulatedFiles();
  const { wal, recovery, found } = await openTestWal(files);
  expect(found).toEqual([]);
  const nothing = { segments: 0, entries: 0, records: 0, bytes: 0, damage: [], tornTail: null };
  expect(recovery).toEqual({ ...nothing, readUpTo: Number.POSITIVE_INFINITY });
  expect([wal.lastSequence, wal.bytes, wal.state]).toEqual([0, 0, "open"]);
  expect(await files.list(LOG)).toEqual([]);
});

test("openWal() replays what was appended, over several segments and starts", async () => {
  const files = createSimulatedFiles();
  const written: string[] = [];
  for (const names of [["a", "b", "c", "d", "e", "f"], [], ["g"], ["h", "i"]]) {
    const { wal, found } = await openTestWal(files);
    expect(found).toEqual(written);
    expect(wal.lastSequence).toBe(written.length);
    written.push(...(await appendNamed(wal, names)));
    await wal.close();
  }
  const { wal, recovery, found } = await openTestWal(files);
  expect(found).toEqual(written);
  expect(written.map((entry) => Number.parseInt(entry, 10))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(recovery).toMatchObject({ segments: 4, entries: 9, records: 9, damage: [], tornTail: null });
  expect(recovery.bytes).toBe(wal.bytes);
  expect((await segmentPaths(files))[1]).toBe(`${LOG}/00000000000000000004.wal`);
});

test("append() shares one write and one sync among all that wait", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 1_000_000 });
  await appendNamed(wal, ["first"]);
  let writes = 0;
  let syncs = 0;
  files.beforeOperation = (operation) => {
    if (operation === "append") writes++;
    if (operation === "sync") syncs++;
  };
  const outcomes = await Promise.all(
    Array.from({ length: 100 }, (_, i) => wal.append(APP, namedBatch(`device ${i}`))),
  );
  expect(outcomes.map((outcome) => outcome.ok && outcome.value)).toEqual(
    Array.from({ length: 100 }, (_, i) => i + 2),
  );
  expect([writes, syncs]).toEqual([2, 2]); // The first goes alone, the 99 that came meanwhile together.
});

test("append() acknowledges nothing before its sync, and in log order after it", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["first"]);
  const sync = hold(files, "sync");
  const acknowledged: unknown[] = [];
  const appends = ["a", "b", "c"].map(async (name) => {
    const outcome = await wal.append(APP, namedBatch(name));
    acknowledged.push(outcome.ok && `${outcome.value} ${name}`);
  });
  await sync.reached;
  await turns();
  expect(acknowledged).toEqual([]);
  expect(wal.lastSequence).toBe(1);
  sync.release();
  await Promise.all(appends);
  expect(acknowledged).toEqual(["2 a", "3 b", "4 c"]);
  expect(wal.lastSequence).toBe(4);
});

test("append() refuses what exceeds the queue, until it has drained", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { queueBytesMax: 1000 });
  const sync = hold(files, "sync");
  const waiting = [wal.append(APP, namedBatch("large", 1000)), wal.append(APP, namedBatch("a"))];
  expect(await waiting[1]).toEqual({ ok: false, error: { kind: "log_queue_full" } });
  await sync.reached;
  sync.release();
  expect(await waiting[0]).toEqual({ ok: true, value: 1 });
  expect(await appendNamed(wal, ["b"])).toEqual(["2 b"]);
});

test("close() finishes what was appended and refuses the rest", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  const pending = ["a", "b"].map((name) => wal.append(APP, namedBatch(name)));
  const closed = wal.close();
  expect(await wal.append(APP, namedBatch("late"))).toEqual({ ok: false, error: { kind: "log_closed" } });
  await closed;
  expect(await Promise.all(pending)).toEqual([
    { ok: true, value: 1 },
    { ok: true, value: 2 },
  ]);
  expect(wal.state).toBe("closed");
  expect((await openTestWal(files.crash())).found).toEqual(["1 a", "2 b"]);
});

test("append() fails for good after a failed sync, and a restart goes on", async () => {
  for (const operation of ["append", "sync"] as const) {
    const files = createSimulatedFiles();
    const { wal } = await openTestWal(files);
    await appendNamed(wal, ["a"]);
    files.failNext(operation, "EIO");
    const outcomes = await Promise.all(["b", "c"].map((name) => wal.append(APP, namedBatch(name))));
    expect(outcomes.map((outcome) => !outcome.ok && outcome.error.kind)).toEqual([
      "log_failed",
      "log_failed",
    ]);
    expect(wal.state).toBe("failed");
    expect(wal.lastSequence).toBe(1);
    const later = await wal.append(APP, namedBatch("d"));
    expect(later.ok ? null : later.error.kind).toBe("log_failed");

    const again = await openTestWal(files.crash());
    expect(again.found).toEqual(["1 a"]);
    expect(await appendNamed(again.wal, ["e"])).toEqual(["2 e"]);
  }
});

test("openWal() syncs what a dead process had written and not synced", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  hold(files, "sync");
  void wal.append(APP, namedBatch("b"));
  await turns();
  files.beforeOperation = null;
  expect((await openTestWal(files)).found).toEqual(["1 a", "2 b"]);
  expect((await openTestWal(files.crash())).found).toEqual(["1 a", "2 b"]);
});

test("openWal() puts on the disk what a failed sync has left to be read, but not written", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  files.failNext("sync", "EIO");
  expect((await wal.append(APP, namedBatch("b"))).ok).toBe(false);
  expect((await openTestWal(files)).found).toEqual(["1 a", "2 b"]); // The system still has it in memory.
  expect((await openTestWal(files.crash())).found).toEqual(["1 a", "2 b"]);
});

test("openWal() syncs what it replayed where a full disk has no room to write it anew", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  hold(files, "sync");
  void wal.append(APP, namedBatch("b"));
  await turns();
  files.beforeOperation = null;
  files.capacityBytes = 0;
  expect((await openTestWal(files)).wal.state).toBe("open");
  expect((await openTestWal(files.crash())).found).toEqual(["1 a", "2 b"]);
});

test("openWal() puts on a full disk too what a failed sync has left to be read, but not written", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  files.failNext("sync", "EIO");
  expect((await wal.append(APP, namedBatch("b"))).ok).toBe(false);
  files.capacityBytes = 0;
  const again = await openTestWal(files);
  expect(again.found).toEqual(["1 a", "2 b"]); // The system still has it in memory.
  expect(again.wal.state).toBe("open");
  expect((await openTestWal(files.crash())).found).toEqual(["1 a", "2 b"]);
});

test("openWal() takes no appends where a full disk does not take what it replayed either", async () => {
  for (const operation of ["overwrite", "sync"] as const) {
    const files = createSimulatedFiles();
    await appendNamed((await openTestWal(files)).wal, ["a"]);
    files.capacityBytes = 0;
    files.failNext(operation, "EIO");
    const { wal, found } = await openTestWal(files);
    expect(found).toEqual(["1 a"]);
    expect(wal.state).toBe("failed");
    expect((await openTestWal(files.crash())).found).toEqual(["1 a"]);
  }
});

test("openWal() loses nothing where the power fails while a full disk is written over", async () => {
  for (let seed = 1; seed <= 200; seed++) {
    const files = createSimulatedFiles();
    const written = await appendNamed((await openTestWal(files)).wal, ["a", "b", "c"]);
    files.capacityBytes = 0;
    const overwriting = hold(files, "sync");
    const opened = openTestWal(files).catch((error: unknown) => error);
    await overwriting.reached;
    expect((await openTestWal(files.crash(seededRandom(seed)))).found).toEqual(written);
    overwriting.release();
    expect(await opened).toBeInstanceOf(FileError);
  }
});

test("openWal() takes no appends where what it replayed can't be synced", async () => {
  const files = createSimulatedFiles();
  await appendNamed((await openTestWal(files)).wal, ["a"]);
  files.failNext("sync", "EIO");
  const { wal, found } = await openTestWal(files);
  expect(found).toEqual(["1 a"]);
  expect(wal.state).toBe("failed");
  const refused = await wal.append(APP, namedBatch("b"));
  expect(refused.ok ? null : refused.error.kind).toBe("log_failed");
});

test("openWal() reports its progress and lets requests in between", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 300_000 });
  for (let i = 0; i < 30; i++) await wal.append(APP, namedBatch(`device ${i}`, 10_000));
  const seen: number[] = [];
  let turns = 0;
  let nowMs = 0;
  const { recovery } = await openTestWal(files, {
    onProgress({ replayedBytes, totalBytes, records }) {
      seen.push(replayedBytes);
      expect(totalBytes).toBe(wal.bytes);
      expect(records).toBeLessThanOrEqual(300_000);
    },
    onEntry() {
      nowMs += 2; // A store that takes its time.
    },
    timers: { ...systemTimers, nowMs: () => nowMs },
    async yieldToRequests() {
      turns++;
    },
  });
  expect(recovery.records).toBe(300_000);
  expect(turns).toBeGreaterThan(3);
  expect(seen.length).toBe(turns + 1);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(seen.at(-1)).toBe(wal.bytes);
});

test("openWal() removes what a crash left of a file on its way, and leaves other files alone", async () => {
  const files = createSimulatedFiles(
    new Map([
      [`${LOG}/00000000000000000001.wal.1a2b3c4d.tmp`, new Uint8Array(5)],
      [`${LOG}/notes.txt`, new Uint8Array(5)],
      [`${LOG}/1.wal`, new Uint8Array(5)],
    ]),
  );
  const { recovery } = await openTestWal(files);
  expect(recovery.segments).toBe(0);
  expect(await files.list(LOG)).toEqual(["1.wal", "notes.txt"]);
});

test("append() refuses for now, not for good, while no segment can be opened for want of descriptors", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  const replace = files.replace;
  files.replace = async (path) => {
    throw new FileError("open", path, "EMFILE");
  };
  const refused = await wal.append(APP, namedBatch("a"));
  expect(refused.ok ? null : refused.error.kind).toBe("log_unopened");
  files.replace = replace;
  expect(await appendNamed(wal, ["b"])).toEqual(["1 b"]);
});

test("openWal() gives no sequence below the least one, whatever is left of the log", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { sequenceMin: 7 });
  expect(wal.lastSequence).toBe(6);
  expect(await appendNamed(wal, ["a", "b"])).toEqual(["7 a", "8 b"]);
  await wal.close();
  const { wal: again, found } = await openTestWal(files, { sequenceMin: 5 });
  expect(found).toEqual(["7 a", "8 b"]);
  expect(await appendNamed(again, ["c"])).toEqual(["9 c"]);
  await again.close();

  for (const path of await segmentPaths(files)) await files.remove(path);
  const { wal: lost } = await openTestWal(files, { sequenceMin: 10 });
  expect(await appendNamed(lost, ["d"])).toEqual(["10 d"]);
  expect((await openTestWal(files.crash())).found).toEqual(["10 d"]);
});

test("rotate() begins a segment with what is appended next", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  const { bytes } = wal;
  await wal.rotate();
  expect((await segmentPaths(files)).length).toBe(1);
  expect([wal.bytes, wal.lastSequence, wal.state]).toEqual([bytes, 1, "open"]);
  await appendNamed(wal, ["b"]);
  expect(await segmentPaths(files)).toEqual([
    `${LOG}/00000000000000000001.wal`,
    `${LOG}/00000000000000000002.wal`,
  ]);
  const again = await openTestWal(files.crash());
  expect(again.found).toEqual(["1 a", "2 b"]);
  expect(again.wal.bytes).toBe(wal.bytes);
});

test("rotate() does nothing where nothing was written, or no more will be", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await wal.rotate();
  expect(await segmentPaths(files)).toEqual([]);
  await appendNamed(wal, ["a"]);
  await Promise.all([wal.rotate(), wal.rotate()]);
  await wal.rotate();
  await appendNamed(wal, ["b", "c"]);
  expect((await segmentPaths(files)).length).toBe(2);
  const sync = hold(files, "sync");
  const appended = wal.append(APP, namedBatch("d"));
  const closed = wal.close();
  await wal.rotate(); // Does not wait.
  sync.release();
  await closed;
  await wal.rotate();
  expect(await appended).toEqual({ ok: true, value: 4 });
  expect((await segmentPaths(files)).length).toBe(2);
});

test("rotate() waits for what is being written and keeps the order of what waits", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 1_000_000 });
  const sync = hold(files, "append"); // Of the first segment's header.
  const done: string[] = [];
  const note = (name: string) => async (outcome: unknown) =>
    void done.push(`${name} ${JSON.stringify(outcome)}`);
  const all = [
    wal.append(APP, namedBatch("a")).then(note("a")),
    wal.append(APP, namedBatch("b")).then(note("b")),
    wal.rotate().then(note("rotated")),
    wal.append(APP, namedBatch("c")).then(note("c")),
  ];
  await sync.reached;
  await turns();
  expect(done).toEqual([]);
  sync.release();
  await Promise.all(all);
  expect(done.map((line) => line.split(" ")[0]!)).toEqual(["a", "rotated", "b", "c"]);
  expect(await segmentPaths(files)).toEqual([
    `${LOG}/00000000000000000001.wal`,
    `${LOG}/00000000000000000002.wal`,
  ]);
  expect((await openTestWal(files.crash())).found).toEqual(["1 a", "2 b", "3 c"]);
});

test("rotate() among many appends loses none, and each after it goes to a segment begun since", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 1_000_000 });
  const appended: string[] = [];
  const rotations: { before: number; after: number }[] = [];
  async function append(name: string): Promise<number> {
    const outcome = await wal.append(APP, namedBatch(name));
    if (!outcome.ok) throw new Error(`refused ${name}: ${outcome.error.kind}`);
    appended.push(`${outcome.value} ${name}`);
    return outcome.value;
  }
  async function writer(index: number): Promise<void> {
    for (let i = 0; i < 5; i++) {
      const before = wal.lastSequence;
      if (i === index % 5) void wal.rotate();
      const after = await append(`${index}-${i}`);
      if (i === index % 5) rotations.push({ before, after });
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, index) => writer(index)));
  await wal.close();

  const sequences = Array.from({ length: 100 }, (_, i) => i + 1);
  expect(appended.map((entry) => Number.parseInt(entry, 10))).toEqual(sequences);
  const numbers = (await segmentPaths(files)).map((path) => Number.parseInt(path.slice(-24), 10));
  for (const { before, after } of rotations) {
    expect(numbers.some((number) => number > before && number <= after)).toBe(true);
  }
  expect(numbers.length).toBeGreaterThan(3);
  const again = await openTestWal(files.crash());
  expect(again.found).toEqual(appended);
  expect(again.recovery.bytes).toBe(wal.bytes);
});

test("rotate() says so where a segment can't be closed, and the log goes on", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  files.failNext("close", "EIO");
  expect(await outcome(wal.rotate())).toThrow(FileError);
  expect(await appendNamed(wal, ["b"])).toEqual(["2 b"]);
  expect((await wal.trim(COVERS_ALL)).segments).toBe(1);
  expect((await openTestWal(files.crash())).found).toEqual(["2 b"]);
});

test("rotate() leaves a failed log as it is", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  files.failNext("append", "EIO");
  const refused = wal.append(APP, namedBatch("b"));
  await wal.rotate();
  expect((await refused).ok).toBe(false);
  expect([wal.state, (await segmentPaths(files)).length]).toEqual(["failed", 1]);
});

test("openWal() takes no segment for unreadable that there is only no descriptor for", async () => {
  const files = createSimulatedFiles();
  const written = await appendNamed((await openTestWal(files)).wal, ["a", "b", "c", "d"]);
  for (const code of ["EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EINTR"]) {
    const again = createSimulatedFiles(files.contents());
    again.failNext("read", code);
    expect(await openTestWal(again).catch((error: FileError) => error.code)).toBe(code);
    expect(again.contents()).toEqual(files.contents());
    expect((await openTestWal(again)).found).toEqual(written);
  }
});
