import {
  createSaltedFrames,
  FRAME_HEADER_BYTES,
  FRAME_SALT_BYTES,
} from "../../../../src/lib/frames/frame.ts";
import { HEADERS_AT } from "../../../../src/lib/frames/head.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import { FormatVersionError } from "../../../../src/lib/text/versioned-json.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import { encodeStandingEntry, type StandingEntry } from "../../../../src/model/standing-entry.ts";
import { createEntryDecoder, createEntryEncoder, type LogEntry } from "../../../../src/wal/entry/entry.ts";
import { createTextColumnReader } from "../../../../src/wal/entry/text-column.ts";
import { encodeSegmentHead, openSegment, segmentName } from "../../../../src/wal/segment.ts";
import { LOG_START, SegmentReader } from "../../../../src/wal/segment-reader.ts";
import { batchIn } from "../../../support/reports/batches.ts";
import { damage } from "../support/damage.ts";
import { fixture } from "../support/fixtures.ts";
import { rowsOf } from "../support/inputs/batch-rows.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { batchWith, drawBatch } from "../support/inputs/draw-batch.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/*
 * Entries and segments of the log. Whatever happens to a segment's bytes, and whatever clients put into the reports,
 * what is read was written, each at most once and in its order; and an entry that was not touched is read.
 */

const PATH = "/data/wal/00000000000000000001.wal";
const APP = "app" as AppId;
const texts = createTextColumnReader();
const encoder = createEntryEncoder();
const decoder = createEntryDecoder(texts, PATH);

export const logEntries: Target = {
  name: "entries",
  bytesMax: 4096,
  seeds: () => [5, 13, 19].flatMap(payloads).map((payload) => Uint8Array.from([0, ...payload])),
  check(input) {
    const draw = createDraw(input);
    if (draw.chance(2)) {
      const batch = drawBatch(draw);
      const bytes = encoder.encode(APP, batch, 0);
      const entry = decoder.decode(viewsOf(bytes), 0, bytes.length, 7);
      mustEqual(
        entry && [entry.appId, rowsOf(batchIn(entry))],
        [APP, rowsOf(batch)],
        "an entry gives its batch back",
      );
      damage(draw, bytes);
      mustBeEntry(
        decoded(bytes.subarray(0, draw.chance(4) ? draw.upTo(bytes.length >> 3) * 8 : bytes.length)),
      );
    } else {
      const bytes = draw.rest();
      mustBeEntry(decoded(bytes.subarray(0, bytes.length & ~7)));
    }
  },
};

/** The entry; null where the bytes are none, or name a column that nobody knows. */
function decoded(bytes: Uint8Array): LogEntry | null {
  try {
    return decoder.decode(viewsOf(bytes), 0, bytes.length, 7);
  } catch (error) {
    must(error instanceof FormatVersionError, "only another version is thrown", () => String(error));
    return null;
  }
}

/** What was decoded names only what it has, and can be written again. */
function mustBeEntry(entry: LogEntry | null): void {
  if (entry === null) return;
  if (entry.kind !== "reports") {
    mustBeStanding(entry);
    return;
  }
  const { appId, batch } = entry;
  const { profiles, states, device, profile, state, count } = batch;
  must(/^[\w.-]{1,64}$/.test(appId), "an entry has an app", () => appId);
  const sizes = [device, batch.timestampMs, profile, state, ...batch.numbers].map(({ length }) => length);
  must(
    sizes.every((size) => size === count),
    "columns have a value for each report",
    () => sizes,
  );
  for (const named of [device, profiles, states])
    must(isBelow(named, batch.texts.length), "a text that is named is there");
  must(isBelow(profile, profiles.length / PROFILE_FIELDS.length), "a profile that is named is there");
  must(isBelow(state, states.length / STATE_FIELDS.length), "a state that is named is there");
  const bytes = encoder.encode(appId, batch, 0);
  const again = decoder.decode(viewsOf(bytes), 0, bytes.length, 7);
  mustEqual(again && rowsOf(batchIn(again)), rowsOf(batch), "an entry that was read can be written");
}

function mustBeStanding(entry: StandingEntry & { readonly sequence?: number }): void {
  const bytes = encodeStandingEntry(entry, 0);
  const { sequence: _, ...again } = decoder.decode(viewsOf(bytes), 0, bytes.length, 7) ?? { sequence: 0 };
  const { sequence: __, ...before } = { sequence: 0, ...entry };
  mustEqual(again, before, "an entry that was read can be written");
}

function isBelow(indexes: Uint32Array, end: number): boolean {
  return indexes.every((index) => index < end);
}

/** The entries of the fixture's log, as bytes. */
function payloads(number: number): Uint8Array[] {
  const name = segmentName(number);
  const views = viewsOf(fixture(`data/wal/${name}`));
  const { scanner } = openSegment(name, number, views, 0);
  const found: Uint8Array[] = [];
  while (scanner.next()) found.push(views.bytes.subarray(scanner.payloadStart, scanner.payloadEnd));
  return found;
}

interface Read {
  readonly sequence: number;
  /** The entry as it would be written: the same bytes are the same entry. */
  readonly payload: Uint8Array;
}

interface Written extends Read {
  readonly start: number;
  readonly end: number;
}

interface Segment {
  readonly bytes: Uint8Array;
  readonly number: number;
  readonly written: readonly Written[];
}

export const logSegments: Target = {
  name: "segments",
  bytesMax: 4096,
  seeds: () => [],
  check(input) {
    const draw = createDraw(input);
    const segment = segmentOf(draw);
    const whole = read(segment, segment.bytes);
    mustEqual(whole.entries.length, segment.written.length, "every entry of a segment is read");
    mustBeWritten(whole.entries, segment.written);
    mustEqual(whole.damage, [], "what was written is no damage");

    const { bytes, hasCopies } = changed(draw, segment.bytes);
    const { entries, damage: ranges } = read(segment, bytes);
    mustBeWritten(entries, segment.written);
    mustBeRanges(ranges, bytes.length);
    // A copy of a later entry hides the earlier ones behind it.
    if (!hasCopies) mustHaveUntouched(entries, segment, bytes);
  },
};

function segmentOf(draw: Draw): Segment {
  const number = draw.pick([1, 2 ** 33]);
  const salt = saltOf(draw);
  const frames = createSaltedFrames(salt);
  const parts: Uint8Array[] = [encodeSegmentHead(number, salt)];
  const written: Written[] = [];
  let sequence = number;
  let at = parts[0]!.length;
  for (let count = draw.upTo(4); count > 0; count--) {
    const batch = draw.chance(3) ? batchWith(forged(draw, sequence)) : drawBatch(draw);
    const frame = encoder.encode(APP, batch, FRAME_HEADER_BYTES);
    frames.stamp(frame, sequence);
    parts.push(frame);
    written.push({
      sequence,
      payload: frame.subarray(FRAME_HEADER_BYTES),
      start: at,
      end: at + frame.length,
    });
    at += frame.length;
    sequence += 1 + draw.upTo(2);
  }
  return { bytes: Buffer.concat(parts), number, written };
}

function saltOf(draw: Draw): Uint8Array {
  return Uint8Array.from({ length: FRAME_SALT_BYTES }, () => draw.upTo(255));
}

/**
 * Bytes that a client would like to pass for the log's: a whole frame, or a head and a frame, with a salt of its own.
 */
function forged(draw: Draw, sequence: number): Uint8Array {
  const salt = saltOf(draw);
  const frame = encoder.encode("other" as AppId, drawBatch(draw, 1), FRAME_HEADER_BYTES);
  createSaltedFrames(salt).stamp(frame, sequence + draw.upTo(5));
  const head = encodeSegmentHead(1, salt).subarray(HEADERS_AT[1]);
  const parts = draw.chance(2) ? [head, frame] : [frame];
  return Buffer.concat([new Uint8Array(draw.upTo(8)), ...parts]).subarray(0, FORGED_BYTES_MAX);
}

const FORGED_BYTES_MAX = 1000;
const HEADER_BYTES = 48;

/** Bits flip, blocks are lost, come twice or come from elsewhere, and a crash cuts the end off. */
function changed(draw: Draw, segment: Uint8Array): { bytes: Uint8Array; hasCopies: boolean } {
  const bytes = Uint8Array.from(draw.chance(4) ? segment.subarray(0, draw.upTo(segment.length)) : segment);
  let hasCopies = false;
  if (bytes.length === 0) return { bytes, hasCopies };
  for (let changes = 1 + draw.upTo(3); changes > 0; changes--) {
    const at = draw.chance(4) ? draw.upTo(63) % bytes.length : draw.upTo(bytes.length - 1);
    const length = draw.pick([8, 64, 512, 4096]);
    const from = draw.upTo(bytes.length - 1);
    const how = draw.upTo(3);
    if (how < 2) bytes[at]! ^= 1 << draw.upTo(7);
    else if (how === 2) bytes.fill(0, at, at + length);
    else {
      bytes.copyWithin(at & ~7, from & ~7, (from & ~7) + length);
      hasCopies = true;
    }
  }
  return { bytes, hasCopies };
}

function read({ number }: Pick<Segment, "number">, bytes: Uint8Array) {
  const aligned = Uint8Array.from(bytes);
  const entries: Read[] = [];
  const source = { path: PATH, number, bytes: aligned, isReadable: true, isNewest: false };
  const reader = new SegmentReader(source, LOG_START, texts);
  for (let entry = reader.next(); entry !== null; entry = reader.next()) {
    const payload = encoder.encodeEntry(entry, 0);
    entries.push({ sequence: entry.sequence, payload });
  }
  const { damage: ranges } = reader.contents();
  return { entries, damage: ranges };
}

function mustBeWritten(entries: readonly Read[], written: readonly Written[]): void {
  let before = 0;
  for (const { sequence, payload } of entries) {
    must(sequence > before, "sequences rise", () => [before, sequence]);
    before = sequence;
    const original = written.find((entry) => entry.sequence === sequence);
    const isOriginal = original !== undefined && Buffer.compare(original.payload, payload) === 0;
    must(isOriginal, `what is read as ${sequence} was written`);
  }
}

function mustBeRanges(ranges: readonly { offset: number; bytes: number }[], length: number): void {
  let end = 0;
  for (const { offset, bytes } of ranges) {
    must(offset >= end && bytes > 0 && offset + bytes <= length, "damage lies in the segment", () => [
      ranges,
      length,
    ]);
    end = offset + bytes;
  }
}

/** Where either header is as it was, every entry is read that is. */
function mustHaveUntouched(
  entries: readonly Read[],
  { bytes, written }: Segment,
  changedBytes: Uint8Array,
): void {
  const isUntouched = (start: number, end: number) =>
    end <= changedBytes.length &&
    Buffer.compare(bytes.subarray(start, end), changedBytes.subarray(start, end)) === 0;
  if (!HEADERS_AT.some((at) => isUntouched(at, at + HEADER_BYTES))) return;
  const untouched = written
    .filter(({ start, end }) => isUntouched(start, end))
    .map(({ sequence }) => sequence);
  const found = new Set(entries.map(({ sequence }) => sequence));
  mustEqual(
    untouched.filter((sequence) => !found.has(sequence)),
    [],
    "an entry that is as it was is read",
  );
}
