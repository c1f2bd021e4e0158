import { expect, test } from "bun:test";
import fc from "fast-check";
import type { AppId } from "../../src/model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS } from "../../src/model/location-fields.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../src/model/report-batch.ts";
import { createEntryDecoder, createEntryEncoder, type LogEntry } from "../../src/wal/entry.ts";
import { viewsOf } from "../../src/wal/views.ts";
import { APP, namedBatch } from "./fixture.ts";

const encoder = createEntryEncoder();
const decoder = createEntryDecoder();

function decode(bytes: Uint8Array, sequence = 7) {
  return decoder.decode(viewsOf(bytes), 0, bytes.length, sequence);
}

/** With plain arrays: `toEqual` finds NaN unlike itself in a Float64Array. */
function plain(entry: LogEntry | null) {
  if (entry === null) return null;
  const { batch, ...rest } = entry;
  return { ...rest, ...plainBatch(batch) };
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
  for (let pass = 0; pass < 2; pass++) expect(decode(bytes)?.batch.texts).toEqual([...batch.texts]);
});

test("EntryEncoder leaves room in front", () => {
  const alone = encoder.encode("a.b-c_D9" as AppId, namedBatch("d"), 0);
  const behind = encoder.encode("a.b-c_D9" as AppId, namedBatch("d"), 24);
  expect(behind.length).toBe(alone.length + 24);
  expect(decoder.decode(viewsOf(behind), 24, behind.length, 1)?.appId).toBe("a.b-c_D9" as AppId);
});

test("EntryDecoder takes fields that an earlier program lacked as not carried", () => {
  const builder = createReportBatchBuilder(1);
  builder.begin();
  builder.numbers.set([1.5, 2.5]);
  builder.add(builder.text("d"), 5);
  const batch = builder.build();
  const bytes = encoder.encode(APP, batch, 0);
  // Of one report, a column that isn't carried takes 8 bytes, and so do the 4 columns of profiles and states.
  const lastNumbers = bytes.length - 40;
  const older = new Uint8Array([...bytes.subarray(0, lastNumbers), ...bytes.subarray(lastNumbers + 8)]);
  older[20] = NUMBER_FIELDS.length - 1;
  older[21] = PROFILE_FIELDS.length - 1;
  older[22] = 4;
  expect(plain(decode(older))).toMatchObject(plainBatch(batch));
});

test("EntryDecoder widens the profiles of an earlier program one by one", () => {
  const builder = createReportBatchBuilder(2);
  for (const user of ["u", "v"]) {
    builder.begin();
    builder.profile.fill(builder.text(user), 0, PROFILE_FIELDS.length - 1);
    builder.add(builder.text("d"), 5);
  }
  const batch = builder.build();
  const narrow = PROFILE_FIELDS.length - 1;
  const profiles = Uint32Array.from({ length: 2 * narrow }, (_, i) => (i < narrow ? 1 : 3));
  // Behind the 24 bytes of 2 * 9 indexes come the profile of each report (16 bytes), the states and theirs (8 each).
  const bytes = encoder.encode(APP, batch, 0);
  const at = bytes.length - 8 - 8 - 16 - 24;
  const older = new Uint8Array([...bytes.subarray(0, at), ...profiles, ...bytes.subarray(at + 24)]);
  older[21] = narrow;
  expect(plain(decode(older))).toMatchObject(plainBatch(batch));
});

test("EntryDecoder refuses fields of a later program", () => {
  for (const position of [20, 21, 22]) {
    const bytes = encoder.encode(APP, namedBatch("d"), 0);
    bytes[position]!++;
    expect(decode(bytes)).toBeNull();
  }
});

test("EntryDecoder reads nothing beyond its end and never throws, whatever the bytes", () => {
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(batches, edits, fc.nat(), (batch, changes, cut) => {
      const bytes = encoder.encode(APP, batch, 0);
      for (const [position, value] of changes)
        bytes[position % (position % 3 === 0 ? 24 : bytes.length)] = value;
      const end = cut % 4 === 0 ? (cut % (bytes.length + 1)) & ~7 : bytes.length;
      const alone = decode(bytes.slice(0, end));
      const followed = decoder.decode(viewsOf(bytes), 0, end, 7);
      expect(plain(followed)).toEqual(plain(alone));
      if (alone === null) return;
      const { count, texts: all, device, profile, profiles } = alone.batch;
      for (let i = 0; i < count; i++) {
        expect(device[i]).toBeLessThan(all.length);
        expect(profile[i]! * PROFILE_FIELDS.length).toBeLessThan(profiles.length);
      }
    }),
    { numRuns: 3000 },
  );
});
