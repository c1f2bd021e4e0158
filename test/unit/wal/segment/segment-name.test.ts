import { expect, test } from "bun:test";
import { misnamedSegments, parseSegmentName, segmentName } from "../../../../src/wal/segment/segment-name.ts";

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
