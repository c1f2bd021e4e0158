// Goal: a disk that fills up at any point refuses batches cleanly, loses nothing that was acknowledged, and the log
// goes on by itself when there is room. Method: every capacity from too little for a header to enough for all.
import { expect, test } from "bun:test";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { createSimulatedFiles, type FileOperation } from "../../support/disk/simulated-files.ts";
import { APP, appendNamed, namedBatch, openTestWal } from "../wal/fixture.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];

/** Appends each name; returns what was taken, as `openTestWal` finds it, and why the rest was not. */
async function appendWhatFits(wal: Awaited<ReturnType<typeof openTestWal>>["wal"], names: readonly string[]) {
  const taken: string[] = [];
  const refused: string[] = [];
  for (const name of names) {
    const outcome = await wal.append(APP, namedBatch(name));
    if (outcome.ok) taken.push(`${outcome.value} ${name}`);
    else refused.push(outcome.error.kind);
  }
  return { taken, refused };
}

test("append() refuses what a full disk can't take, whatever its size, and goes on when there is room", async () => {
  let refusals = 0;
  for (let room = -16; room < 1968; room += 8) {
    const capacityBytes = SEGMENT_HEAD_BYTES + room;
    const files = createSimulatedFiles();
    files.capacityBytes = capacityBytes;
    const { wal } = await openTestWal(files);
    const { taken, refused } = await appendWhatFits(wal, NAMES);
    expect(new Set(refused)).toEqual(new Set(refused.length > 0 ? ["log_full"] : []));
    expect(wal.state).toBe(refused.length > 0 ? "full" : "open");
    expect(taken.map((entry) => Number.parseInt(entry, 10))).toEqual(taken.map((_, i) => i + 1));
    refusals += refused.length;

    files.capacityBytes = Number.POSITIVE_INFINITY;
    taken.push(...(await appendNamed(wal, ["room", "again"])));
    expect(wal.state).toBe("open");
    const onDisk = [...files.contents()].filter(([path]) => path.endsWith(".wal"));
    expect(wal.bytes).toBe(onDisk.reduce((sum, [, bytes]) => sum + bytes.length, 0));
    const again = await openTestWal(files.crash());
    expect(again.found).toEqual(taken);
    expect(again.recovery).toMatchObject({ damage: [], tornTail: null });
  }
  expect(refusals).toBeGreaterThan(300);
});

test("append() survives ENOSPC from any operation, and only a failed way back stops it", async () => {
  for (const operation of ["replace", "openAppend", "append", "sync", "rename", "syncDirectory"] as const) {
    for (let skipped = 0; skipped < 12; skipped++) {
      const files = createSimulatedFiles();
      const { wal } = await openTestWal(files);
      let left = skipped;
      let failed = false;
      files.beforeOperation = (name) => {
        if (name !== operation || left-- !== 0) return;
        files.failNext(operation, "ENOSPC");
        failed = true;
      };
      const { taken, refused } = await appendWhatFits(wal, NAMES);
      const isMadeGood = operation === "syncDirectory"; // A name is put in place and synced once more.
      expect(refused).toEqual(failed && !isMadeGood ? ["log_full"] : []);
      expect(taken.length + refused.length).toBe(NAMES.length);
      const again = await openTestWal(files.crash());
      expect(again.found).toEqual(taken);
      expect(again.recovery).toMatchObject({ damage: [], tornTail: null });
    }
  }
});

test("append() refuses every batch of the group that did not fit, and keeps their order afterwards", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files, { segmentBytesMax: 100_000 });
  await appendNamed(wal, ["first"]);
  files.capacityBytes = SEGMENT_HEAD_BYTES + 208 * 3;
  const kinds = await Promise.all(
    NAMES.map(async (name) => {
      const outcome = await wal.append(APP, namedBatch(name));
      return outcome.ok ? outcome.value : outcome.error.kind;
    }),
  );
  expect(kinds).toEqual([2, ...Array(6).fill("log_full")]); // "a" goes alone; the rest as one group.
  expect(wal.lastSequence).toBe(2);
});

test("append() fails for good where a full disk's leftovers can't be taken back", async () => {
  for (const wayBack of ["truncate", "sync"] satisfies FileOperation[]) {
    const files = createSimulatedFiles();
    const { wal } = await openTestWal(files);
    const written = await appendNamed(wal, ["a"]);
    files.capacityBytes = SEGMENT_HEAD_BYTES + 368;
    files.failNext(wayBack, "EIO");
    const { refused } = await appendWhatFits(wal, ["b", "c"]);
    expect(refused).toEqual(["log_failed", "log_failed"]);
    expect(wal.state).toBe("failed");
    files.capacityBytes = Number.POSITIVE_INFINITY;
    expect((await appendWhatFits(wal, ["d"])).refused).toEqual(["log_failed"]);
    const again = await openTestWal(files);
    expect(again.found).toEqual(written);
    expect((await appendWhatFits(again.wal, ["e"])).refused).toEqual([]);
  }
});

test("openWal() opens a torn log on a full disk and repairs it when there is room", async () => {
  const files = createSimulatedFiles();
  const written = await appendNamed((await openTestWal(files)).wal, ["a", "b"]);
  const contents = files.contents();
  const [path, bytes] = [...contents][0]!;
  contents.set(path, new Uint8Array([...bytes, 1, 2, 3, 4]));
  const full = createSimulatedFiles(contents);
  full.capacityBytes = 0;
  const { wal, found, recovery } = await openTestWal(full);
  expect(found).toEqual(written);
  expect(recovery.tornTail).toMatchObject({ bytes: 4, savedAs: null });
  expect((await appendWhatFits(wal, ["c"])).refused).toEqual(["log_full"]);
  expect(full.contents()).toEqual(contents);
  full.capacityBytes = Number.POSITIVE_INFINITY;
  const appended = await appendNamed(wal, ["d"]);
  const again = await openTestWal(full);
  expect(again.found).toEqual([...written, ...appended]);
  const last = await openTestWal(full);
  expect(last.recovery).toMatchObject({ damage: [], tornTail: null });
});
