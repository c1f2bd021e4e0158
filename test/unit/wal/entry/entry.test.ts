import { expect, test } from "bun:test";
import { padded, viewsOf } from "../../../../src/lib/frames/views.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../../src/model/report-batch.ts";
import { NEWEST_KIND } from "../../../../src/model/standing-entry.ts";
import { createEntryDecoder, createEntryEncoder, type LogEntry } from "../../../../src/wal/entry/entry.ts";
import { createTextColumnReader } from "../../../../src/wal/entry/text-column.ts";
import * as fc from "../../../support/fast-check.ts";
import { batchIn } from "../../../support/reports/batches.ts";
import { APP, namedBatch } from "../fixture.ts";

const PATH = "/data/wal/00000000000000000001.wal";
const encoder = createEntryEncoder();
const decoder = createEntryDecoder(createTextColumnReader(), PATH);

function decode(bytes: Uint8Array, sequence = 7) {
  return decoder.decode(viewsOf(bytes), 0, bytes.length, sequence);
}

/** With plain arrays: `toEqual` finds NaN unlike itself in a Float64Array. */
function plain(entry: LogEntry | null) {
  if (entry === null) return null;
  const { sequence, appId } = entry;
  return { sequence, appId, ...plainBatch(batchIn(entry)) };
}

function plainBatch(batch: ReportBatch) {
  const { count, texts, numbers } = batch;
  const columns = [batch.timestampMs, ...numbers].map((column) => [...column]);
  const { device, profiles, profile, states, state } = batch;
  return { count, texts, columns, indexes: [device, profiles, profile, states, state] };
}

/** What `addReport` lets through, and worse: any double, any well-formed text. */
const texts = fc.oneof(
  fc.constantFrom("", "MOVING", "ä", "\u{1F68C}", "x".repeat(128), "ß".repeat(60)),
  fc.string({ unit: "binary", maxLength: 50 }),
);
const numbers = fc.oneof(fc.constant(Number.NaN), fc.double(), fc.constantFrom(53.44718, 4.8, 0, 58));
const reports = fc.record({
  device: texts,
  timestampMs: fc.integer({ min: 0, max: 2 ** 45 }),
  numbers: fc.array(numbers, { maxLength: NUMBER_FIELDS.length }),
  profile: fc.array(fc.option(texts), { maxLength: PROFILE_FIELDS.length }),
  state: fc.array(fc.option(texts), { maxLength: 6 }),
});
const batches = fc.array(reports, { maxLength: 30 }).map((rows): ReportBatch => {
  const builder = createReportBatchBuilder(rows.length);
  for (const row of rows) {
    builder.begin();
    builder.numbers.set(row.numbers.map((value) => value + 0));
    builder.profile.set(row.profile.map((text) => (text === null ? 0 : builder.text(text))));
    builder.state.set(row.state.map((text) => (text === null ? 0 : builder.text(text))));
    builder.add(builder.text(row.device), row.timestampMs);
  }
  return builder.build();
});

test("EntryEncoder gives a batch back as it was", () => {
  fc.assert(
    fc.property(batches, (batch) => {
      const decoded = decode(encoder.encode(APP, batch, 0));
      expect(plain(decoded)).toEqual({ sequence: 7, appId: APP, ...plainBatch(batch) });
    }),
    { numRuns: 500 },
  );
});

test("EntryEncoder takes the largest batch", () => {
  const batch = namedBatch("device", 10_000);
  expect(plain(decode(encoder.encode(APP, batch, 0)))).toMatchObject(plainBatch(batch));
});

test("EntryEncoder takes a batch whose texts need more than the kept buffer", () => {
  const builder = createReportBatchBuilder(10_000);
  for (let i = 0; i < 10_000; i++) {
    builder.begin();
    builder.profile[0] = builder.text(`${i}${"\u{1F68C}".repeat(120)}`);
    builder.add(builder.text(`${"é".repeat(120)}${i}`), i);
  }
  const batch = builder.build();
  expect(plain(decode(encoder.encode(APP, batch, 0)))).toMatchObject(plainBatch(batch));
  expect(plain(decode(encoder.encode(APP, namedBatch("next"), 0)))).toMatchObject(
    plainBatch(namedBatch("next")),
  );
});

test("EntryDecoder tells more short texts apart than it remembers", () => {
  const builder = createReportBatchBuilder(10_000);
  for (let i = 0; i < 10_000; i++) {
    builder.begin();
    builder.add(builder.text(`bus ${i * 7919}`), i);
  }
  const batch = builder.build();
  const bytes = encoder.encode(APP, batch, 0);
  for (let pass = 0; pass < 2; pass++) expect(batchIn(decode(bytes)!).texts).toEqual([...batch.texts]);
});

test("EntryEncoder leaves room in front", () => {
  const alone = encoder.encode("a.b-c_D9" as AppId, namedBatch("d"), 0);
  const behind = encoder.encode("a.b-c_D9" as AppId, namedBatch("d"), 24);
  expect(behind.length).toBe(alone.length + 24);
  expect(decoder.decode(viewsOf(behind), 24, behind.length, 1)?.appId).toBe("a.b-c_D9" as AppId);
});

/** Where the column numbers of an entry begin: behind its head and the app id. */
const NAMES_AT = 24 + APP.length;

/** An entry of one report that carries all fields, with one of its columns under another number. */
function renamed(index: number, column: number): Uint8Array {
  const builder = createReportBatchBuilder(1);
  builder.begin();
  builder.numbers.fill(1.5);
  builder.profile.fill(builder.text("profile"));
  builder.state.fill(builder.text("state"));
  builder.add(builder.text("d"), 5);
  const bytes = encoder.encode(APP, builder.build(), 0);
  bytes[NAMES_AT + index] = column;
  return bytes;
}

test("EntryEncoder names the columns by their numbers, those that nobody carries left out", () => {
  const builder = createReportBatchBuilder(2);
  for (const latitude of [Number.NaN, 2.5]) {
    builder.begin();
    builder.numbers[0] = latitude;
    builder.add(builder.text("d"), 5);
  }
  const bytes = encoder.encode(APP, builder.build(), 0);
  const tuples = [...PROFILE_FIELDS, ...STATE_FIELDS].map(({ columnNumber }) => columnNumber);
  expect([...bytes.subarray(20, 23)]).toEqual([1, PROFILE_FIELDS.length, STATE_FIELDS.length]);
  expect([...bytes.subarray(NAMES_AT, NAMES_AT + 1 + tuples.length)]).toEqual([
    NUMBER_FIELDS[0]!.columnNumber,
    ...tuples,
  ]);
});

test("EntryDecoder takes columns that are not named as not carried", () => {
  const builder = createReportBatchBuilder(2);
  for (const user of ["u", "v"]) {
    builder.begin();
    builder.numbers.set([1.5, 2.5]);
    builder.profile.fill(builder.text(user), 0, PROFILE_FIELDS.length - 1);
    builder.add(builder.text("d"), 5);
  }
  const batch = builder.build();
  const narrow = PROFILE_FIELDS.length - 1;
  const profiles = new Uint8Array(padded(2 * narrow));
  profiles.fill(1, 0, narrow).fill(3, narrow, 2 * narrow);
  // Behind the indexes of both profiles come the profile of each report (16 bytes), the states and theirs (8 each).
  const bytes = encoder.encode(APP, batch, 0);
  const end = bytes.length - 8 - 8 - 16;
  const at = end - padded(2 * PROFILE_FIELDS.length);
  const older = new Uint8Array([...bytes.subarray(0, at), ...profiles, ...bytes.subarray(end)]);
  older[21] = narrow;
  older.copyWithin(NAMES_AT + 2 + narrow, NAMES_AT + 2 + PROFILE_FIELDS.length, NAMES_AT + 24);
  expect(plain(decode(older))).toMatchObject(plainBatch(batch));
});

test("EntryDecoder refuses kinds of other programs, naming the file, and takes 0, which is no kind, for no entry", () => {
  const bytes = encoder.encode(APP, namedBatch("d"), 0);
  for (const kind of [NEWEST_KIND + 1, NEWEST_KIND + 2, 255]) {
    expect(() => decode(bytes.with(0, kind))).toThrow(
      new FormatVersionError("log segment", PATH, "known kinds of entries", `kind ${kind}`),
    );
  }
  expect(() => decode(bytes.with(0, 4))).toThrow("kind 4. A program from before the first release wrote it.");
  expect(decode(bytes.with(0, 0))).toBeNull();
  expect(decode(new Uint8Array())).toBeNull();
});

test("EntryDecoder refuses columns of a later program, naming the file, and does not take them for damage", () => {
  const last = NUMBER_FIELDS.length - 1;
  for (const index of [
    last,
    last + PROFILE_FIELDS.length,
    last + PROFILE_FIELDS.length + STATE_FIELDS.length,
  ]) {
    expect(() => decode(renamed(index, 200))).toThrow(
      new FormatVersionError("log segment", PATH, "known columns", "column 200"),
    );
  }
});

test("EntryDecoder takes columns out of order as no entry", () => {
  expect(decode(renamed(1, NUMBER_FIELDS[0]!.columnNumber))).toBeNull();
  expect(decode(renamed(1, NUMBER_FIELDS[2]!.columnNumber))).toBeNull();
});

test("EntryDecoder reads nothing beyond its end, whatever the bytes, and throws for unknown kinds and columns alone", () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(batches, edits, fc.nat(), (batch, changes, cut) => {
      const bytes = encoder.encode(APP, batch, 0);
      for (const [position, value] of changes)
        bytes[position % (position % 3 === 0 ? 24 : bytes.length)] = value;
      const end = cut % 4 === 0 ? (cut % (bytes.length + 1)) & ~7 : bytes.length;
      let alone: LogEntry | null;
      try {
        alone = decode(bytes.slice(0, end));
      } catch (error) {
        expect(error).toBeInstanceOf(FormatVersionError);
        return;
      }
      const followed = decoder.decode(viewsOf(bytes), 0, end, 7);
      expect(plain(followed)).toEqual(plain(alone));
      if (alone === null) return;
      const { count, texts: all, device, profile, profiles } = batchIn(alone);
      for (let i = 0; i < count; i++) {
        expect(device[i]).toBeLessThan(all.length);
        expect(profile[i]! * PROFILE_FIELDS.length).toBeLessThan(profiles.length);
      }
    }),
    { numRuns: 3000 },
  );
});
