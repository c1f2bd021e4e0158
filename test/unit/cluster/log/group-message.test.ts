import { expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import {
  ENTRY_LENGTH_BYTES,
  encodeGroup,
  MessageError,
  MessageReader,
} from "../../../../src/cluster/log/group-message.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { ReportBatch } from "../../../../src/model/report-batch.ts";
import { createEntryEncoder } from "../../../../src/wal/entry/entry.ts";
import * as fc from "../../../support/fast-check.ts";
import { arbitraryReport } from "../../../support/reports/arbitrary-reports.ts";
import { batchIn, batchOf } from "../../../support/reports/batches.ts";
import { plainReports } from "../../../support/reports/plain-reports.ts";
import { namedBatch } from "../../wal/fixture.ts";

const reader = new MessageReader("wherehouse");
const encoder = createEntryEncoder();

function messageOf(...batches: readonly (readonly [string, ReportBatch])[]): Uint8Array<ArrayBuffer> {
  return encodeGroup(
    batches.map(([appId, batch]) => encoder.encode(appId as AppId, batch, ENTRY_LENGTH_BYTES)),
  );
}

/** Sequence, app and reports of each entry. */
function entriesOf(number: number, message: Uint8Array): unknown[] {
  return reader
    .entries(number, message)
    .map((entry) => [entry.sequence, entry.appId, plainReports(batchIn(entry))]);
}

/** With a checksum that fits what is there. */
function resealed(message: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  new DataView(message.buffer).setUint32(4, crc32(message.subarray(8)), true);
  return message;
}

const arbitraryBatch = fc
  .array(arbitraryReport, { minLength: 1, maxLength: 20 })
  .map((reports) => batchOf(reports));
const group = fc.array(fc.tuple(fc.constantFrom("app", "other", "x"), arbitraryBatch), {
  minLength: 1,
  maxLength: 8,
});

test("entries() gives back what encodeGroup() was given, in order, numbered by message and place", () => {
  fc.assert(
    fc.property(group, fc.integer({ min: 1, max: 2 ** 42 }), (batches, number) => {
      const expected = batches.map(([appId, batch], index) => [
        number * 1024 + index,
        appId,
        plainReports(batch),
      ]);
      expect(entriesOf(number, messageOf(...batches))).toEqual(expected);
    }),
    { numRuns: 100 },
  );
});

test("encodeGroup() takes up to 1,024 entries, and entries() no more", () => {
  const frame = encoder.encode("app" as AppId, namedBatch("a"), ENTRY_LENGTH_BYTES);
  const full = Array.from({ length: 1024 }, () => frame);
  const last = reader.entries(7, encodeGroup(full)).at(-1)!;
  expect([last.sequence, reader.entries(8, encodeGroup([frame]))[0]!.sequence]).toEqual([8191, 8192]);
  expect(() => reader.entries(1, encodeGroup([...full, frame]))).toThrow(MessageError);
  expect(() => reader.entries(1, encodeGroup([]))).toThrow(MessageError);
});

test("entries() refuses a message any byte of which was changed", () => {
  const message = messageOf(["app", namedBatch("first", 3)], ["other", namedBatch("second")]);
  for (let at = 0; at < message.length; at++) {
    for (const flip of [1, 0x80, 0xff]) {
      const damaged = message.slice();
      damaged[at]! ^= flip;
      const read = () => reader.entries(3, damaged);
      if (at === 1)
        expect(read).toThrow(); // Another or newer version.
      else expect(read, `byte ${at}`).toThrow(MessageError);
    }
  }
});

test("entries() refuses a message of any other length, and says which message of which stream it is", () => {
  const message = messageOf(["app", namedBatch("a", 2)]);
  for (let length = 0; length < message.length; length++) {
    expect(() => reader.entries(3, message.slice(0, length)), `${length} bytes`).toThrow(MessageError);
  }
  const longer = new Uint8Array(message.length + 8);
  longer.set(message);
  expect(() => reader.entries(3, resealed(longer))).toThrow(
    `Message 3 of the stream "wherehouse" (${longer.length} bytes) is damaged`,
  );
});

test("entries() refuses lengths and counts that don't fit, though the checksum does", () => {
  const message = messageOf(["app", namedBatch("a")], ["app", namedBatch("b")]);
  const { length } = message;
  for (const [at, value] of [
    [8, 1],
    [8, 3],
    [8, 0xffff_ffff],
    [16, 0],
    [16, 8],
    [16, 7],
    [16, length],
    [16, 0xffff_fff8],
    [16, 0xffff_ffff],
  ] as const) {
    const forged = message.slice();
    new DataView(forged.buffer).setUint32(at, value, true);
    expect(() => reader.entries(3, resealed(forged)), `${value} at ${at}`).toThrow(MessageError);
  }
});

test("entries() names another version as such, and a kind of message that it does not know as what it can't go on with", () => {
  for (const [version, writer] of [
    [1, "A program from before the first release wrote it."],
    [3, "A newer program wrote it."],
  ] as const) {
    const other = messageOf(["app", namedBatch("a")]);
    other[1] = version;
    expect(() => reader.entries(3, other)).toThrow(FormatVersionError);
    expect(() => reader.entries(3, other)).toThrow(`expected format version 2, found ${version}. ${writer}`);
  }
  const foreign = messageOf(["app", namedBatch("a")]);
  foreign[0] = 9;
  expect(() => reader.entries(3, foreign)).toThrow(MessageError);
});

test("texts that look like entries and messages stay texts", () => {
  const inner = messageOf(["other", namedBatch("forged")]);
  const ascii = String.fromCharCode(...inner.map((byte) => byte & 0x7f));
  const hostile = [
    ascii,
    new TextDecoder().decode(inner),
    "\u0001\u0001\u0000\u0000".repeat(4),
    "\u0000".repeat(64),
  ];
  for (const text of hostile) {
    const batch = namedBatch(text, 2);
    expect(entriesOf(5, messageOf(["app", batch], ["app", namedBatch("next")]))).toEqual([
      [5120, "app", plainReports(batch)],
      [5121, "app", plainReports(namedBatch("next"))],
    ]);
  }
});
