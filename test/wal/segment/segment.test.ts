import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { NewerFormatError } from "../../../src/lib/newer-format-error.ts";
import {
  createRandomSalt,
  encodeSegmentHead,
  readSalt,
  readVersion,
  SEGMENT_HEAD_BYTES,
} from "../../../src/wal/segment/segment.ts";
import { formatOf } from "../../../src/wal/segment/segment-format.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome } from "../../support/rejection.ts";
import { appendNamed, openTestWal, segmentPaths } from "../fixture.ts";

const PATH = "/data/wal/00000000000000000007.wal";
const SECOND = 4096;

/** Both headers as another program would have written them, with good checksums. */
function rewritten(bytes: Uint8Array, change: (header: DataView) => void): Uint8Array {
  const copy = bytes.slice();
  for (const at of [0, SECOND]) {
    const header = new DataView(copy.buffer, at, 48);
    change(header);
    header.setUint32(28, crc32(copy.subarray(at, at + 28)), true);
    header.setUint32(44, crc32(copy.subarray(at, at + 44)), true);
  }
  return copy;
}

/**
 * As 0.1 reads it, line by line (src/wal/segment/segment.ts of commit 157082b): the version of a header that it takes
 * for good.
 */
function versionSeenBy01(segment: Uint8Array): number | null {
  const { bytes, u32 } = viewsOf(segment);
  if (bytes.length < 32 || bytes.toString("latin1", 0, 8) !== "WHEREWAL") return null;
  if (crc32(bytes.subarray(0, 28)) !== u32[7]) return null;
  return u32[2]!;
}

test("encodeSegmentHead() says to 0.1 that a newer program wrote the segment", () => {
  for (const number of [1, 7, 2 ** 50])
    expect(versionSeenBy01(encodeSegmentHead(number, createRandomSalt()))).toBe(2);
});

test("encodeSegmentHead() gives each segment a salt of its own, twice", () => {
  const salts = [1, 1, 2].map((number) => {
    const views = viewsOf(encodeSegmentHead(number, createRandomSalt()));
    expect([readVersion(views, 0), readVersion(views, SECOND)]).toEqual([2, 2]);
    expect(readSalt(views, 0)).toEqual(readSalt(views, SECOND)!);
    return Buffer.from(readSalt(views, 0)!).toString("hex");
  });
  expect(new Set(salts).size).toBe(3);
});

/** Whether the salt is known, and whether any damage is. */
function read(segment: Uint8Array, number: number, whole: Uint8Array) {
  const { version, head, goodHead } = formatOf(viewsOf(segment), number, PATH);
  return { isKnown: version === 2 && Buffer.compare(head, whole) === 0, goodHead };
}

test("formatOf() reads the salt where either header is damaged, and tells any damage", () => {
  for (const number of [1, 2 ** 40 + 3]) {
    const head = encodeSegmentHead(number, createRandomSalt());
    expect(read(head, number, head)).toEqual({ isKnown: true, goodHead: true });
    expect(formatOf(viewsOf(head), number + 1, PATH)).toMatchObject({ version: 2, goodHead: false });
    for (let position = 0; position < head.length; position++) {
      const flipped = head.slice();
      flipped[position]! ^= 4;
      expect(read(flipped, number, head)).toEqual({ isKnown: true, goodHead: false });
    }
    for (const [from, to] of [
      [0, SECOND],
      [48, SEGMENT_HEAD_BYTES],
    ]) {
      const lost = head.slice().fill(0xee, from, to);
      expect(read(lost, number, head)).toEqual({ isKnown: true, goodHead: false });
    }
  }
});

test("formatOf() refuses a newer version in either header, naming the file and both versions", () => {
  const newer = rewritten(encodeSegmentHead(7, createRandomSalt()), (header) => header.setUint32(8, 3, true));
  const fault = new NewerFormatError("log segment", PATH, "format version 2", "3");
  expect(() => formatOf(viewsOf(newer), 7, PATH)).toThrow(fault);
  expect(() => formatOf(viewsOf(newer.slice().fill(0, 0, 100)), 7, PATH)).toThrow(fault);
});

test("formatOf() takes nothing 4 KiB into a file for a header that names another segment", () => {
  // In a segment of 0.1 whose first block is lost, a client may have put it there.
  const planted = encodeSegmentHead(999, createRandomSalt());
  const newer = rewritten(planted, (header) => header.setUint32(8, 3, true));
  for (const head of [planted, newer]) {
    const segment = new Uint8Array(4 * SECOND);
    segment.set(head.subarray(SECOND), SECOND);
    const { frames, version } = formatOf(viewsOf(segment), 7, PATH);
    expect(version).toBe(1);
    expect(frames.payloadBytes(viewsOf(segment), SEGMENT_HEAD_BYTES)).toBe(-1);
  }
});

test("openWal() refuses a log of a newer program as a whole and touches nothing", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a", "b", "c", "d", "e"]);
  const contents = files.contents();
  const [first, second] = await segmentPaths(files);
  contents.get(first!)![SEGMENT_HEAD_BYTES + 28]! ^= 1; // Damage that would be repaired otherwise.
  contents.set(
    second!,
    rewritten(contents.get(second!)!, (header) => header.setUint32(8, 9, true)),
  );

  const newer = createSimulatedFiles(contents);
  newer.beforeOperation = (operation) => {
    expect(["makeDirectory", "list", "size", "read"]).toContain(operation);
  };
  expect(await outcome(openTestWal(newer))).toThrow(NewerFormatError);
  expect(newer.contents()).toEqual(contents);
});
