import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { createSaltedFrames, FRAME_HEADER_BYTES } from "../../../src/lib/frames/frame.ts";
import { createRandomSalt } from "../../../src/lib/frames/head.ts";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { FormatVersionError } from "../../../src/lib/text/versioned-json.ts";
import { NEWEST_KIND } from "../../../src/model/standing-entry.ts";
import { createEntryEncoder } from "../../../src/wal/entry/entry.ts";
import {
  encodeSegmentHead,
  misnamedSegments,
  openSegment,
  parseSegmentName,
  SEGMENT_HEAD_BYTES,
  segmentName,
} from "../../../src/wal/segment.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";
import { outcome } from "../../support/rejection.ts";
import { APP, appendNamed, namedBatch, openTestWal, segmentPaths } from "./fixture.ts";

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

/** Opens a segment's head; `salt` as hex. */
function open(segment: Uint8Array, number: number) {
  const { salt, goodHead } = openSegment(PATH, number, viewsOf(segment), 0);
  return { salt: salt === null ? null : hexOf(salt), goodHead };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

test("encodeSegmentHead() writes the salt twice", () => {
  const salt = createRandomSalt();
  const head = encodeSegmentHead(7, salt);
  for (const at of [0, SECOND]) expect(hexOf(head.subarray(at + 32, at + 40))).toBe(hexOf(salt));
});

test("createRandomSalt() gives another salt each time", () => {
  expect(new Set(Array.from({ length: 100 }, () => hexOf(createRandomSalt()))).size).toBe(100);
});

test("openSegment() reads the salt where either header is damaged, and tells any damage", () => {
  for (const number of [1, 2 ** 40 + 3]) {
    const random = createRandomSalt();
    const salt = hexOf(random);
    const head = encodeSegmentHead(number, random);
    expect(open(head, number)).toEqual({ salt, goodHead: true });
    expect(open(head, number + 1)).toEqual({ salt, goodHead: false });
    for (let position = 0; position < head.length; position++) {
      const flipped = head.slice();
      flipped[position]! ^= 4;
      expect(open(flipped, number)).toEqual({ salt, goodHead: false });
    }
    for (const [from, to] of [
      [0, SECOND],
      [48, SEGMENT_HEAD_BYTES],
    ]) {
      const lost = head.slice().fill(0xee, from, to);
      expect(open(lost, number)).toEqual({ salt, goodHead: false });
    }
  }
});

test("openSegment() believes nothing in a segment that lost both headers, or has another program's", () => {
  const head = encodeSegmentHead(7, createRandomSalt());
  const foreign = rewritten(head, (header) => header.setUint8(0, "X".charCodeAt(0)));
  for (const lost of [new Uint8Array(0), head.subarray(0, 40), new Uint8Array(head.length), foreign]) {
    const { scanner, salt, goodHead } = openSegment(PATH, 7, viewsOf(lost), 0);
    expect([salt, goodHead, scanner.next()]).toEqual([null, false, false]);
    expect(scanner.damage).toEqual(lost.length === 0 ? [] : [{ offset: 0, bytes: lost.length }]);
  }
});

test("openSegment() refuses another version in either header, naming the file, both versions and who wrote it", () => {
  for (const [version, writer] of [
    [2, "A program from before the first release wrote it."],
    [4, "A newer program wrote it."],
  ] as const) {
    const head = encodeSegmentHead(7, createRandomSalt());
    const other = rewritten(head, (header) => header.setUint32(8, version, true));
    const fault = `Cannot open log segment "${PATH}": expected format version 3, found ${version}. ${writer}`;
    expect(() => open(other, 7)).toThrow(FormatVersionError);
    expect(() => open(other, 7)).toThrow(fault);
    expect(() => open(other.slice().fill(0, 0, 100), 7)).toThrow(fault);
    expect(() => open(other.slice(0, 32), 7)).toThrow(fault); // All that versions have in common.
  }
});

test("openWal() refuses a log of an older or a newer program as a whole and touches nothing", async () => {
  for (const version of [2, 9]) {
    const files = createSimulatedFiles();
    const { wal } = await openTestWal(files);
    await appendNamed(wal, ["a", "b", "c", "d", "e"]);
    const contents = files.contents();
    const [first, second] = await segmentPaths(files);
    contents.get(first!)![SEGMENT_HEAD_BYTES + 28]! ^= 1; // Damage that would be repaired otherwise.
    contents.set(
      second!,
      rewritten(contents.get(second!)!, (header) => header.setUint32(8, version, true)),
    );

    const other = createSimulatedFiles(contents);
    other.beforeOperation = (operation) => {
      expect(["makeDirectory", "list", "size", "read"]).toContain(operation);
    };
    expect(await outcome(openTestWal(other))).toThrow(FormatVersionError);
    expect(other.contents()).toEqual(contents);
  }
});

test("openWal() refuses a log with an entry of a kind that it does not know, and touches nothing", async () => {
  const files = createSimulatedFiles();
  const { wal } = await openTestWal(files);
  await appendNamed(wal, ["a", "b", "c", "d", "e"]);
  await wal.close();
  const contents = files.contents();
  const [first, second] = await segmentPaths(files);
  contents.get(first!)![SEGMENT_HEAD_BYTES + 28]! ^= 1; // Damage that would be repaired otherwise.
  const salt = createRandomSalt();
  const frame = createEntryEncoder().encode(APP, namedBatch("newer"), FRAME_HEADER_BYTES);
  frame[FRAME_HEADER_BYTES] = NEWEST_KIND + 1;
  createSaltedFrames(salt).stamp(frame, 4);
  contents.set(second!, Buffer.concat([encodeSegmentHead(4, salt), frame]));

  const newer = createSimulatedFiles(contents);
  newer.beforeOperation = (operation) => {
    expect(["makeDirectory", "list", "size", "read"]).toContain(operation);
  };
  const refusal = `"${second}": expected known kinds of entries, found kind ${NEWEST_KIND + 1}. A newer program wrote it.`;
  expect(await outcome(openTestWal(newer))).toThrow(refusal);
  expect(newer.contents()).toEqual(contents);
});

const NO_NAMES = [
  "7.wal",
  "00000000000000000000.wal",
  `0000${2 ** 52 + 1}.wal`, // A name of that kind would make the log count past what it reads back.
  `${"9".repeat(20)}.wal`,
  "x.wal",
  ".wal",
];
const OTHER_FILES = ["00000000000000000007.wal.tmp", "lost+found", ""];

test("parseSegmentName() reads what segmentName() writes, and nothing else", () => {
  for (const number of [1, 7, 2 ** 32 + 1, 2 ** 50, 2 ** 52]) {
    expect(parseSegmentName(segmentName(number))).toBe(number);
  }
  expect(segmentName(7)).toBe("00000000000000000007.wal");
  for (const name of [...NO_NAMES, ...OTHER_FILES]) expect(parseSegmentName(name)).toBeNull();
});

test("segmentName() gives no name that would not be read back", () => {
  expect(() => segmentName(0)).toThrow();
  expect(() => segmentName(2 ** 52 + 1)).toThrow();
});

test("misnamedSegments() finds what was meant to be a segment and can't be one", () => {
  expect(misnamedSegments([...OTHER_FILES, ...NO_NAMES, segmentName(7)])).toEqual(NO_NAMES);
});
