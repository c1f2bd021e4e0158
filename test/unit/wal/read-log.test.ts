import { expect, test } from "bun:test";
import { FileError } from "../../../src/runtime/files.ts";
import { inspectLog } from "../../../src/wal/read-log.ts";
import { SEGMENT_HEAD_BYTES } from "../../../src/wal/segment.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { APP, appendNamed, LOG, namedBatch, openTestWal, segmentPaths } from "./fixture.ts";

test("inspectLog() of no log is empty", async () => {
  expect(await inspectLog(createSimulatedFiles(), LOG)).toEqual([]);
});

test("inspectLog() counts what each segment holds and changes nothing", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a", "b", "c"]);
  await wal.append(APP, namedBatch("d", 50));
  const contents = files.contents();
  const [older, newest] = await segmentPaths(files);
  contents.get(older!)![SEGMENT_HEAD_BYTES + 68]! ^= 1;
  const olderBytes = contents.get(older!)!.length;
  const inspected = createSimulatedFiles(contents);
  const frameBytes = (olderBytes - SEGMENT_HEAD_BYTES) / 3;
  expect(await inspectLog(inspected, LOG)).toEqual([
    {
      file: older!,
      bytes: olderBytes,
      entries: 2,
      records: 2,
      firstSequence: 2,
      lastSequence: 3,
      goodHead: true,
      isReadable: true,
      damage: [{ offset: SEGMENT_HEAD_BYTES, bytes: frameBytes }],
      tornTailBytes: 0,
    },
    {
      file: newest!,
      bytes: contents.get(newest!)!.length,
      entries: 1,
      records: 50,
      firstSequence: 4,
      lastSequence: 4,
      goodHead: true,
      isReadable: true,
      damage: [],
      tornTailBytes: 0,
    },
  ]);
  expect(inspected.contents()).toEqual(contents);
});

test("inspectLog() takes a write under way as no damage, at whatever byte it finds it", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  const [path] = (await segmentPaths(files)) as [string];
  const before = files.contents().get(path)!.length;
  await appendNamed(wal, ["b"]);
  const whole = files.contents().get(path)!;
  for (let length = before; length < whole.length; length++) {
    const growing = createSimulatedFiles(new Map([[path, whole.slice(0, length)]]));
    const [segment] = await inspectLog(growing, LOG);
    expect(segment).toMatchObject({ entries: 1, damage: [], tornTailBytes: length - before });
  }
});

test("inspectLog() passes over a segment that is removed while it reads", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a", "b", "c", "d"]);
  const [older, newest] = (await segmentPaths(files)) as [string, string];
  files.beforeOperation = async (operation, path) => {
    if (operation === "read" && path === older) await files.remove(older);
  };
  expect((await inspectLog(files, LOG)).map(({ file }) => file)).toEqual([newest]);
});

test("inspectLog() and openWal() name a segment that can't be read, leave it alone, and read the others", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a"]);
  await wal.close();
  const [segment] = await segmentPaths(files);
  const contents = files.contents();
  const disk = createSimulatedFiles(contents);
  const read = disk.read;
  disk.read = async (path) => {
    if (path === segment) throw new FileError("read", path, "EIO");
    return read(path);
  };
  expect((await inspectLog(disk, LOG)).map(({ isReadable }) => isReadable)).toEqual([false]);
  const reopened = await openTestWal(disk);
  expect(reopened.recovery.damage).toEqual([
    { file: segment!, offset: 0, bytes: contents.get(segment!)!.length, savedAs: null },
  ]);
  expect(reopened.recovery.readUpTo).toBe(0); // So no archive claims to hold what this segment may hold.
  const appended = await reopened.wal.append(APP, namedBatch("b"));
  expect(appended.ok && appended.value).toBeGreaterThan(1); // No sequence that the segment may hold is given again.
  expect(disk.contents().get(segment!)).toEqual(contents.get(segment!)!);
});

test("openWal() writes over no segment while the disk gives neither its bytes nor its size", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a", "b", "c"]);
  await wal.close();
  const [segment] = await segmentPaths(files);
  const before = files.contents().get(segment!)!;
  const disk = createSimulatedFiles(files.contents());
  const { read, size } = disk;
  let isAway = true;
  disk.read = async (path) => {
    if (isAway && path === segment) throw new FileError("read", path, "EIO");
    return read(path);
  };
  disk.size = async (path) => {
    if (isAway && path === segment) throw new FileError("look up", path, "EIO");
    return size(path);
  };
  const reopened = await openTestWal(disk);
  isAway = false; // As a network file system that was cut off for a moment.
  await reopened.wal.append(APP, namedBatch("later"));
  await reopened.wal.close();
  expect(disk.contents().get(segment!)).toEqual(before);
  const { found } = await openTestWal(disk);
  expect(found.map((entry) => entry.split(" ")[1])).toEqual(["a", "b", "c", "later"]);
});
