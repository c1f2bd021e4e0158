import { expect, test } from "bun:test";
import { createSaltedFrames, FRAME_HEADER_BYTES } from "../../../src/lib/frames/frame.ts";
import { createRandomSalt } from "../../../src/lib/frames/head.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { createSimulatedFiles, type SimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome } from "../../support/rejection.ts";
import { batchIn } from "../../support/reports/batches.ts";
import { appendNamed, DAMAGED, LOG, openTestWal, saltOf, segmentPaths } from "./fixture.ts";

/** A log of two segments, `a` to `c` and `d` to `e`, and the bytes of one frame of it. */
async function twoSegments() {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  const written = await appendNamed(wal, ["a", "b", "c", "d", "e"]);
  await wal.close();
  const contents = files.contents();
  const [older, newest] = (await segmentPaths(files)) as [string, string];
  const frameBytes = (contents.get(older)!.length - SEGMENT_HEAD_BYTES) / 3;
  return { written, contents, older, newest, frameBytes };
}

async function expectClean(files: SimulatedFiles, found: readonly string[]): Promise<void> {
  const before = files.contents();
  const again = await openTestWal(files);
  expect(again.found).toEqual([...found]);
  expect(again.recovery).toMatchObject({ damage: [], tornTail: null });
  expect(files.contents()).toEqual(before);
}

test("openWal() keeps the bytes of a torn tail, cuts it and leaves its sequences unused", async () => {
  const { written, contents, newest } = await twoSegments();
  const whole = contents.get(newest)!;
  const torn = Uint8Array.from({ length: 30 }, (_, i) => i + 1);
  contents.set(newest, new Uint8Array([...whole, ...torn]));
  const files = createSimulatedFiles(contents);
  const { wal, recovery, found } = await openTestWal(files);
  expect(found).toEqual(written);
  expect(recovery.damage).toEqual([]);
  expect(recovery.tornTail).toMatchObject({ file: newest, offset: whole.length, bytes: 30 });
  expect(recovery.tornTail!.savedAs).toStartWith(`${DAMAGED}/00000000000000000004.wal.at-${whole.length}.`);
  expect(files.contents().get(recovery.tornTail!.savedAs!)).toEqual(torn);
  expect(files.contents().get(newest)).toEqual(whole);
  await expectClean(files, written);
  expect(await appendNamed(wal, ["f"])).toEqual(["8 f"]); // 30 bytes are not more than two frames.
  await expectClean(files, [...written, "8 f"]);
});

test("openWal() cuts a tail of zeros, and keeps no more than where it was", async () => {
  const { written, contents, newest } = await twoSegments();
  const whole = contents.get(newest)!;
  contents.set(newest, new Uint8Array([...whole, ...new Uint8Array(100)]));
  const files = createSimulatedFiles(contents);
  const { recovery } = await openTestWal(files);
  expect(recovery.tornTail).toEqual({ file: newest, offset: whole.length, bytes: 100, savedAs: null });
  expect(files.contents().get(`${newest.replace(LOG, DAMAGED)}.at-${whole.length}.00000000.torn`)).toEqual(
    new Uint8Array(),
  );
  expect((await files.list(DAMAGED)).length).toBe(1);
  await expectClean(files, written);
});

test("openWal() keeps damage in the middle aside and replays every frame around it", async () => {
  for (const segment of ["older", "newest"] as const) {
    const { written, contents, frameBytes, ...paths } = await twoSegments();
    const path = paths[segment];
    const bytes = contents.get(path)!;
    bytes[SEGMENT_HEAD_BYTES + 50]! ^= 1;
    const lost = bytes.slice(SEGMENT_HEAD_BYTES, SEGMENT_HEAD_BYTES + frameBytes);
    const files = createSimulatedFiles(contents);
    const { recovery, found } = await openTestWal(files);
    const left = written.filter((entry) => entry !== (segment === "older" ? "1 a" : "4 d"));
    expect(found).toEqual(left);
    expect(recovery.tornTail).toBeNull();
    expect(recovery.damage).toMatchObject([{ file: path, offset: SEGMENT_HEAD_BYTES, bytes: frameBytes }]);
    expect(files.contents().get(recovery.damage[0]!.savedAs!)).toEqual(lost);
    await expectClean(files, left);
  }
});

test("openWal() takes a bad tail of an older segment as damage", async () => {
  const { written, contents, older } = await twoSegments();
  contents.set(older, contents.get(older)!.slice(0, -8));
  const files = createSimulatedFiles(contents);
  const { recovery, found } = await openTestWal(files);
  expect(recovery.damage.map(({ file }) => file)).toEqual([older]);
  expect(recovery.tornTail).toBeNull();
  const left = written.filter((entry) => entry !== "3 c");
  expect(found).toEqual(left);
  await expectClean(files, left);
});

test("openWal() recovers the frames behind either header alone", async () => {
  const { written, contents, older, newest } = await twoSegments();
  contents.get(older)!.fill(0xff, 0, 4096);
  contents.get(newest)!.fill(0, 4096, SEGMENT_HEAD_BYTES);
  const files = createSimulatedFiles(contents);
  const { recovery, found } = await openTestWal(files);
  expect(found).toEqual(written);
  expect(recovery.damage.map(({ offset, bytes }) => [offset, bytes])).toEqual([
    [0, SEGMENT_HEAD_BYTES],
    [0, SEGMENT_HEAD_BYTES],
  ]);
  await expectClean(files, written);
});

test("openWal() sets a segment aside as a whole whose headers are both lost, and believes nothing in it", async () => {
  const { written, contents, older } = await twoSegments();
  const whole = contents.get(older)!.fill(0xff, 0, SEGMENT_HEAD_BYTES).slice();
  const files = createSimulatedFiles(contents);
  const salt = createRandomSalt();
  const { recovery, found } = await openTestWal(files, { createSalt: () => salt });
  expect(found).toEqual(written.slice(3));
  expect(recovery.damage).toMatchObject([{ file: older, offset: 0, bytes: whole.length }]);
  expect(files.contents().get(recovery.damage[0]!.savedAs!)).toEqual(whole);
  const left = files.contents().get(older)!;
  expect(left.length).toBe(SEGMENT_HEAD_BYTES); // An empty segment is in its place, with a new salt.
  expect(Buffer.from(saltOf(left))).toEqual(Buffer.from(salt));
  await expectClean(files, written.slice(3));
});

test("openWal() keeps sequences rising where nothing of the newest segment is left", async () => {
  for (const length of [0, 5, 500]) {
    const { written, contents, newest } = await twoSegments();
    contents.set(newest, new Uint8Array(length).fill(0xee));
    const files = createSimulatedFiles(contents);
    const { wal, recovery } = await openTestWal(files);
    expect(recovery.damage).toMatchObject([{ file: newest, offset: 0, bytes: length }]);
    await expectClean(files, written.slice(0, 3));
    const [appended] = await appendNamed(wal, ["f"]);
    expect(Number.parseInt(appended!, 10)).toBeGreaterThan(3 + length / 100);
    await expectClean(files, [...written.slice(0, 3), appended!]);
  }
});

test("openWal() takes in no frame twice where a segment was copied", async () => {
  const { written, contents, older } = await twoSegments();
  contents.set(`${LOG}/00000000000000000005.wal`, contents.get(older)!);
  const files = createSimulatedFiles(contents);
  const { recovery, found } = await openTestWal(files);
  expect(found).toEqual(written);
  expect(recovery.damage.length).toBe(1);
  await expectClean(files, written);
});

test("openWal() sets a good frame aside whose entry can't be read", async () => {
  const { written, contents, newest } = await twoSegments();
  const odd = new Uint8Array(FRAME_HEADER_BYTES + 64).fill(0xff);
  odd[FRAME_HEADER_BYTES] = 1; // The kind of entry.
  const whole = contents.get(newest)!;
  createSaltedFrames(saltOf(whole)).stamp(odd, 9);
  contents.set(newest, new Uint8Array([...whole, ...odd]));
  const files = createSimulatedFiles(contents);
  const { recovery, found } = await openTestWal(files);
  expect(found).toEqual(written);
  // A write that was cut short has no checksum of its salt: this was acknowledged.
  expect([recovery.tornTail, recovery.damage.map(({ bytes }) => bytes)]).toEqual([null, [odd.length]]);
  await expectClean(files, written);
});

test("openWal() starts where the disk refuses the repair, and repairs at the next start", async () => {
  for (const operation of ["makeDirectory", "replace", "append", "sync", "rename", "truncate"] as const) {
    const { written, contents, older, newest } = await twoSegments();
    contents.get(older)![SEGMENT_HEAD_BYTES + 50]! ^= 1;
    contents.set(newest, new Uint8Array([...contents.get(newest)!, 1, 2, 3]));
    const files = createSimulatedFiles(contents);
    let refused = 0;
    files.beforeOperation = (name, path) => {
      if (name !== operation || path === LOG || refused++ > 0) return;
      files.failNext(operation, "ENOSPC");
    };
    const { wal, recovery, found } = await openTestWal(files);
    files.beforeOperation = null;
    expect(refused).toBeGreaterThan(0);
    expect(found).toEqual(written.slice(1));
    expect(recovery.damage.length).toBe(1);
    const appended = await appendNamed(wal, ["f"]);
    await wal.close();
    const again = await openTestWal(files);
    expect(again.found).toEqual([...written.slice(1), ...appended]);
    await expectClean(files, [...written.slice(1), ...appended]);
  }
});

/** What a memory finds that can't take some entries in, over all its replays. */
async function openWithout(files: SimulatedFiles, isUnusable: (sequence: number) => boolean) {
  let found: string[] = [];
  const failures: string[] = [];
  const { recovery } = await openTestWal(files, {
    onEntry(entry) {
      const { sequence } = entry;
      const batch = batchIn(entry);
      if (isUnusable(sequence)) throw new Error("no room");
      found.push(`${sequence} ${batch.texts[batch.device[0]!]}`);
    },
    async onReplayAgain({ message }) {
      failures.push(message);
      found = [];
    },
  });
  return { found, failures, recovery };
}

test("openWal() sets entries aside that memory can't take in, wherever they stand, and begins again each time", async () => {
  const { written, contents } = await twoSegments();
  for (const unusable of [[1], [2, 3], [written.length], written.map((_, index) => index + 1)]) {
    const files = createSimulatedFiles(new Map(contents));
    const { found, failures, recovery } = await openWithout(files, (sequence) => unusable.includes(sequence));
    const rest = written.filter((_, index) => !unusable.includes(index + 1));
    expect(found).toEqual(rest);
    expect(failures).toEqual(
      unusable.map(
        (each) => `Cannot apply entry ${each} of the log (app "app", reports: 1) to memory: no room`,
      ),
    );
    expect(recovery.tornTail).toBeNull();
    expect(recovery.entries).toBe(rest.length);
    for (const { savedAs, bytes } of recovery.damage) expect(await files.size(savedAs!)).toBe(bytes);
    const { wal, found: later, recovery: clean } = await openTestWal(files);
    expect([later, clean.damage]).toEqual([rest, []]);
    expect(wal.lastSequence).toBeGreaterThanOrEqual(written.length);
  }
});

test("openWal() changes nothing where more entries fail than may be at fault themselves", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(
    wal,
    Array.from({ length: 102 }, (_, index) => `e${index}`),
  );
  await wal.close();
  const before = await Promise.all((await segmentPaths(files)).map((path) => files.read(path)));
  expect(await outcome(openWithout(files, () => true))).toThrow("Cannot apply entry 101 of the log");
  expect(await Promise.all((await segmentPaths(files)).map((path) => files.read(path)))).toEqual(before);
  const { found } = await openWithout(files, (sequence) => sequence <= 100);
  expect(found).toEqual(["101 e100", "102 e101"]);
});
