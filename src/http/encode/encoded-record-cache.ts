import { METERS_PER_MILE } from "../../geo/distance.ts";
import { assert } from "../../lib/assert.ts";
import { createFragment, JsonWriter, writeFourDigits } from "../../lib/text/json-writer.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import { deviceDigest, RECORD_ID_TIME_CHARACTERS, writeRecordIdTime } from "../../model/record-id.ts";
import { LOCAL_TIME_BYTES, type LocalTimeFormatter } from "../../time/local-time.ts";
import { createRecordEncoder } from "./record-encoder.ts";

/*
 * A text as it is kept, in whole words of 8 bytes:
 *
 *   | timestampMs f64 | bytes u32 | locationAt u16 | idAt u16 | text ... |
 *
 *   ,{"device_id":"bus-1","distance_miles": 0.0000,"bearing_degrees":  0.00,"location":{"device_id":"bus-1",
 *   "app_id":"default","user_id":"ANONYMOUS", ... }}
 *
 * It is an item of nearby's results whose two numbers are written over in each copy, so they have a fixed width:
 * JSON allows blanks before a number and zeros after it. The location is the record of all other answers; it begins
 * at `locationAt`, and an `id` is put in at `idAt`.
 */
const WORD_BYTES = 8;
const U16_MAX = 0xffff;
const HEADER_BYTES = 16;
const SLOTS = ',"distance_miles": 0.0000,"bearing_degrees":  0.00,"location":';
const SLOTS_FRAGMENT = createFragment(SLOTS);
const DISTANCE_BEFORE_LOCATION = SLOTS.length - SLOTS.indexOf(" 0.0000");
const BEARING_BEFORE_LOCATION = SLOTS.length - SLOTS.indexOf("  0.00,");
const LOCAL_TIME = ',"local_time":"';
const ID = ',"id":"';
const DIGEST_CHARACTERS = 16;
const ID_BYTES = ID.length + RECORD_ID_TIME_CHARACTERS + DIGEST_CHARACTERS + 1;
/** A line of the processor's caches, and those of a record with all its fields. */
const LINE_BYTES = 64;
const LINES_CALLED = 8;
/** What is put in beside the text itself. */
const EXTRA_BYTES = LOCAL_TIME.length + LOCAL_TIME_BYTES + ID_BYTES + 8;

const BLANK = 0x20;
const QUOTE = 0x22;
const DIGIT_0 = 0x30;
const BRACE = 0x7d;

/** One page of who is near, in columns; may be longer than `count`. */
export interface NearbyColumns {
  readonly count: number;
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
}

/**
 * Newest records as JSON text, each encoded once a report and copied from then on. They lie one after the other in a
 * ring buffer, where the newest text takes the place of the oldest; what is asked together is encoded together, and
 * so lies together. Answers are written into the memory before it: copying within one buffer costs half of
 * copying from one into another.
 */
export class EncodedRecordCache {
  readonly #memory: Uint8Array<ArrayBuffer>;
  readonly #u16: Uint16Array;
  readonly #u32: Uint32Array;
  readonly #f64: Float64Array;
  /** The ring buffer, in words of the memory. */
  readonly #startWord: number;
  readonly #words: number;
  /** Where the lap begins and where the next text goes, counted in words from before the first lap on. */
  #lap: number;
  #next: number;
  #found = new Int32Array(0);
  readonly #encoder = createRecordEncoder("current");
  readonly #scratch = new JsonWriter(SCRATCH_BYTES_EXPECTED);

  /** Keeps texts in `memory` from `start` on; both are multiples of 8. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number) {
    this.#memory = memory;
    this.#u16 = new Uint16Array(memory.buffer);
    this.#u32 = new Uint32Array(memory.buffer);
    this.#f64 = new Float64Array(memory.buffer);
    this.#startWord = start / WORD_BYTES;
    // Lines of the last text stay within.
    this.#words = (memory.length - start - LINES_CALLED * LINE_BYTES) / WORD_BYTES;
    this.#lap = 2 * this.#words; // So that 0, which says there is no text, is too old to be one.
    this.#next = this.#lap;
  }

  /** Writes items of nearby's results, with a comma before each. */
  writeNearby(
    json: JsonWriter,
    records: NewestRecords,
    { count, devices, meters, bearings }: NearbyColumns,
    localTime: LocalTimeFormatter | null,
  ): void {
    const memory = this.#memory;
    const u32 = this.#u32;
    const u16 = this.#u16;
    const notes = records.notes();
    const words = this.#findAll(notes, devices, count);
    for (let row = 0; row < count; row++) {
      const word = words === null ? this.#find(records, notes, devices[row]!) : words[row]!;
      const textBytes = u32[word * 2 + 2]!;
      const location = json.length + u16[word * 4 + 6]!;
      json.ensure(textBytes + EXTRA_BYTES);
      const { bytes } = json;
      copyBytes(memory, word * WORD_BYTES + HEADER_BYTES, textBytes, bytes, json.length);
      json.length += textBytes;
      writeDistance(bytes, location - DISTANCE_BEFORE_LOCATION, meters[row]! / METERS_PER_MILE);
      writeBearing(bytes, location - BEARING_BEFORE_LOCATION, bearings[row]!);
      if (localTime === null) continue;
      json.length -= 2;
      writeLocalTime(json, localTime, this.#f64[word]!);
      json.byte(BRACE);
      json.byte(BRACE);
    }
  }

  /** Writes a record as current positions show it; with its id for the answer about one device. */
  writeRecord(
    json: JsonWriter,
    records: NewestRecords,
    device: number,
    localTime: LocalTimeFormatter | null,
    withId = false,
  ): void {
    const word = this.#find(records, records.notes(), device);
    const start = word * WORD_BYTES + HEADER_BYTES;
    const end = start + this.#u32[word * 2 + 2]! - 2; // Without the braces of the record and of the item.
    const locationStart = start + this.#u16[word * 4 + 6]!;
    const timestampMs = this.#f64[word]!;
    json.ensure(end - locationStart + EXTRA_BYTES);
    if (withId) {
      const idStart = start + this.#u16[word * 4 + 7]!;
      this.#copy(json, locationStart, idStart - locationStart);
      writeId(json, records, device, timestampMs);
      this.#copy(json, idStart, end - idStart);
    } else this.#copy(json, locationStart, end - locationStart);
    if (localTime !== null) writeLocalTime(json, localTime, timestampMs);
    json.byte(BRACE);
  }

  #copy(json: JsonWriter, from: number, count: number): void {
    copyBytes(this.#memory, from, count, json.bytes, json.length);
    json.length += count;
  }

  /**
   * The words of all texts of a page; null where any is missing. The texts lie anywhere in many megabytes, so all
   * their lines are called up first: then memory fetches many at a time, rather than each when it is copied.
   */
  #findAll(notes: Float64Array, devices: Uint32Array, count: number): Int32Array | null {
    if (count > this.#found.length) this.#found = new Int32Array(count);
    const found = this.#found;
    const oldest = this.#next - this.#words;
    const lap = this.#lap;
    const startWord = this.#startWord;
    const words = this.#words;
    let isComplete = true;
    for (let row = 0; row < count; row++) {
      const offset = notes[devices[row]!]!;
      if (offset < oldest) isComplete = false;
      found[row] = startWord + offset - (offset < lap ? lap - words : lap);
    }
    if (!isComplete || count === 0) return null;
    const u32 = this.#u32;
    let sum = 0;
    for (let row = 0; row < count; row++) {
      const at = found[row]! * 2;
      for (let line = 0; line < LINES_CALLED; line++) sum += u32[at + line * (LINE_BYTES / 4)]!;
    }
    assert(sum > 0, "every text has a length"); // Which keeps compilers from leaving the sum out.
    return found;
  }

  /** The word of the memory at which the text of a device's newest record begins, with its header. */
  #find(records: NewestRecords, notes: Float64Array, device: number): number {
    let offset = notes[device]!;
    if (offset < this.#next - this.#words) {
      offset = this.#encode(records, device);
      notes[device] = offset;
    }
    return this.#startWord + offset - (offset < this.#lap ? this.#lap - this.#words : this.#lap);
  }

  /** Puts the text of a record into the ring buffer and returns its offset. */
  #encode(records: NewestRecords, device: number): number {
    const page = records.pageOf(device);
    const id = JSON.stringify(records.deviceId(device));
    const json = this.#scratch;
    json.clear();
    json.text(',{"device_id":');
    json.text(id);
    json.fragment(SLOTS_FRAGMENT);
    const locationAt = json.length;
    json.text('{"device_id":');
    json.text(id);
    json.text(',"app_id":');
    json.value(records.appId);
    const idAt = json.length;
    this.#encoder.writeRest(json, page, 0, null);
    json.byte(BRACE);
    const text = json.written();
    assert(idAt <= U16_MAX && idAt < text.length, "where the members of a record begin is told in 16 bits");

    const offset = this.#reserve((HEADER_BYTES + text.length) / WORD_BYTES);
    const word = this.#startWord + offset - this.#lap;
    this.#f64[word] = page.timestampMs[0]!;
    this.#u32[word * 2 + 2] = text.length;
    this.#u16[word * 4 + 6] = locationAt;
    this.#u16[word * 4 + 7] = idAt;
    this.#memory.set(text, word * WORD_BYTES + HEADER_BYTES);
    return offset;
  }

  /** The offset of a text of so many words: behind the last one, or at the start of a new lap. */
  #reserve(wordsNeeded: number): number {
    const words = Math.ceil(wordsNeeded);
    assert(words <= this.#words, "a record's text fits the ring buffer");
    if (this.#next + words > this.#lap + this.#words) {
      this.#lap += this.#words;
      this.#next = this.#lap;
    }
    const offset = this.#next;
    this.#next += words;
    assert(
      offset >= this.#lap && this.#next <= this.#lap + this.#words,
      "a text lies within its lap of the ring",
    );
    return offset;
  }
}

/** Within one buffer this is twice as fast; an answer that has outgrown its memory is in another. */
function copyBytes(source: Uint8Array, from: number, count: number, target: Uint8Array, at: number): void {
  if (target === source) target.copyWithin(at, from, from + count);
  else target.set(source.subarray(from, from + count), at);
}

const SCRATCH_BYTES_EXPECTED = 16_384;

/** ` 1.2345`: 7 bytes with four decimals, below 100. */
function writeDistance(bytes: Uint8Array, at: number, miles: number): void {
  const scaled = Math.round(miles * 1e4) | 0;
  const whole = (scaled / 1e4) | 0;
  const tens = (whole / 10) | 0;
  bytes[at] = tens === 0 ? BLANK : DIGIT_0 + tens;
  bytes[at + 1] = DIGIT_0 + whole - tens * 10;
  writeFourDigits(bytes, at + 3, scaled - whole * 10_000);
}

/** `  7.25`: 6 bytes with two decimals, 0 to 359.99. */
function writeBearing(bytes: Uint8Array, at: number, degrees: number): void {
  const rounded = Math.round(degrees * 100) | 0;
  const scaled = rounded === 36_000 ? 0 : rounded; // 359.999 rounds to north.
  const whole = (scaled / 100) | 0;
  const rest = scaled - whole * 100;
  const hundreds = (whole / 100) | 0;
  const tens = (whole / 10) | 0;
  bytes[at] = hundreds === 0 ? BLANK : DIGIT_0 + hundreds;
  bytes[at + 1] = tens === 0 ? BLANK : DIGIT_0 + tens - hundreds * 10;
  bytes[at + 2] = DIGIT_0 + whole - tens * 10;
  const tenths = (rest / 10) | 0;
  bytes[at + 4] = DIGIT_0 + tenths;
  bytes[at + 5] = DIGIT_0 + rest - tenths * 10;
}

function writeLocalTime(json: JsonWriter, localTime: LocalTimeFormatter, timestampMs: number): void {
  json.text(LOCAL_TIME);
  json.length = localTime.write(timestampMs, json.bytes, json.length);
  json.bytes[json.length++] = QUOTE;
}

function writeId(json: JsonWriter, records: NewestRecords, device: number, timestampMs: number): void {
  json.text(ID);
  writeRecordIdTime(json.bytes, json.length, timestampMs);
  json.length += RECORD_ID_TIME_CHARACTERS;
  json.text(deviceDigest(records.appId, records.deviceId(device)));
  json.bytes[json.length++] = QUOTE;
}
