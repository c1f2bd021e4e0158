import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { NewerFormatError } from "../../src/lib/newer-format-error.ts";
import { encodeSegmentHeader, hasGoodHeader, parseSegmentName, segmentName } from "../../src/wal/segment.ts";
import { viewsOf } from "../../src/wal/views.ts";
import { createSimulatedFiles } from "../support/simulated-files.ts";
import { appendNamed, openTestWal, segmentPaths } from "./fixture.ts";

const PATH = "/data/wal/00000000000000000007.wal";

/** The header as another program would have written it, with its own good CRC. */
function rewritten(bytes: Uint8Array, change: (header: DataView) => void): Uint8Array {
  const copy = bytes.slice();
  const header = new DataView(copy.buffer);
  change(header);
  header.setUint32(28, crc32(copy.subarray(0, 28)), true);
  return copy;
}

test("parseSegmentName() reads what segmentName() writes, and nothing else", () => {
  for (const number of [1, 7, 2 ** 32 + 1, 2 ** 48]) {
    expect(parseSegmentName(segmentName(number))).toBe(number);
  }
  expect(segmentName(7)).toBe("00000000000000000007.wal");
  for (const name of [
    "7.wal",
    `${segmentName(7)}.tmp`,
    segmentName(0),
    segmentName(2 ** 48 + 1), // A name of that kind once made the log count past what it reads back.
    `${"9".repeat(20)}.wal`,
    "",
    "x.wal",
  ]) {
    expect(parseSegmentName(name)).toBeNull();
  }
});

test("hasGoodHeader() holds for the segment's own header alone", () => {
  for (const number of [1, 2 ** 40 + 3]) {
    const header = encodeSegmentHeader(number);
    expect(hasGoodHeader(viewsOf(header), number, PATH)).toBe(true);
    expect(hasGoodHeader(viewsOf(header), number + 1, PATH)).toBe(false);
    expect(hasGoodHeader(viewsOf(header.subarray(0, 31)), number, PATH)).toBe(false);
    for (let position = 0; position < header.length; position++) {
      const flipped = header.slice();
      flipped[position]! ^= 4;
      expect(hasGoodHeader(viewsOf(flipped), number, PATH)).toBe(false);
    }
  }
});

test("hasGoodHeader() refuses a newer version, naming the file and both versions", () => {
  const newer = rewritten(encodeSegmentHeader(7), (header) => header.setUint32(8, 2, true));
  expect(() => hasGoodHeader(viewsOf(newer), 7, PATH)).toThrow(
    new NewerFormatError("log segment", PATH, "format version 1", "2"),
  );
});

test("openWal() refuses a log of a newer program as a whole and touches nothing", async () => {
  const newerVersion = (header: DataView) => header.setUint32(8, 9, true);
  const moreFields = (header: DataView) => header.setUint8(13, header.getUint8(13) + 1);
  for (const change of [newerVersion, moreFields]) {
    const files = createSimulatedFiles();
    const { wal } = await openTestWal(files);
    await appendNamed(wal, ["a", "b", "c", "d", "e"]);
    const contents = files.contents();
    const [first, second] = await segmentPaths(files);
    contents.get(first!)![60]! ^= 1; // Damage that would be repaired otherwise.
    contents.set(second!, rewritten(contents.get(second!)!, change));

    const newer = createSimulatedFiles(contents);
    newer.beforeOperation = (operation) => {
      expect(["makeDirectory", "list", "size", "read"]).toContain(operation);
    };
    expect(openTestWal(newer)).rejects.toThrow(NewerFormatError);
    expect(newer.contents()).toEqual(contents);
  }
});
