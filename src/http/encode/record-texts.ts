import { assert } from "../../lib/assert.ts";
import { CLOSE_BRACE } from "../../lib/text/ascii.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordDictionary, RecordPage } from "../../model/record-page.ts";
import { SLOTS_FRAGMENT } from "./nearby-slots.ts";
import { createRecordEncoder } from "./record-encoder.ts";

/*
 * A text as it is kept, behind a header:
 *
 *   | timestampMs f64 | profile u32 | state u32 | edition u32 |
 *   | bytes u16 | capacity u16 | locationAt u16 | numbersAt u16 | textsAt u16 | - | text ... | room to grow ... |
 *
 *   ,{"device_id":"bus-1","distance_miles": 0.0000,"bearing_degrees":  0.00,"location":{"device_id":"bus-1",
 *   "app_id":"default","timestamp":1764000000000, ... ,"user_id":"ANONYMOUS", ... }}
 *
 * It is an item of nearby's results. The location is the record of all other answers; it begins at `locationAt`. Its
 * time and numbers begin at `numbersAt`, and what its profile and state say, by the dictionary's numbers of an
 * edition, at `textsAt`.
 */
const TIMESTAMP_MS = 0; // Each counted in cells of its own width.
const PROFILE = 2;
const STATE = 3;
const EDITION = 4;
const BYTES = 10;
const CAPACITY = 11;
const LOCATION_AT = 12;
const NUMBERS_AT = 13;
const TEXTS_AT = 14;
const HEADER_BYTES = 32;
const WORD_BYTES = 8;
const U16_MAX = 0xffff;

/** So that most newer records of a device, whose numbers have more digits here and there, fit where the last was. */
const GROWTH_BYTES = 16;
/** More than the longest record takes: its texts have 128 characters at most. */
const SCRATCH_BYTES = 16_384;
/** A line of the processor's caches, and those of a record with all its fields. */
const LINE_BYTES = 64;
const LINES_PREFETCHED = 9;

/**
 * Newest records as JSON text in a ring buffer. The text of a device whose record is another stays in its place as
 * long as it fits: mostly only numbers are written anew. What is asked together for the first time lies together.
 */
export class RecordTexts {
  readonly #memory: Uint8Array<ArrayBuffer>;
  // The same memory in wider numbers: until a DataView's methods are inlined, a header of them costs half a record.
  readonly #u16: Uint16Array;
  readonly #u32: Uint32Array;
  readonly #f64: Float64Array;
  readonly #ring: TextRing;
  readonly #encoder = createRecordEncoder("current");
  /** Writes into the same memory, within which copying is cheapest. */
  readonly #scratch: JsonWriter;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;
  /** The edition in which profiles and states are numbered now, and its own number. */
  #dictionary: RecordDictionary | null = null;
  #edition = 0;
  /** By row of a page, where its text is. */
  #places = new Int32Array(0);
  /** Rows whose texts are missing or outdated, and their devices. */
  #wanted = new Int32Array(0);
  #wantedDevices = new Uint32Array(0);

  /** Keeps texts in `memory` from `start` on; both are multiples of 8. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number) {
    this.#memory = memory;
    this.#u16 = new Uint16Array(memory.buffer);
    this.#u32 = new Uint32Array(memory.buffer);
    this.#f64 = new Float64Array(memory.buffer);
    this.#scratchBytes = memory.subarray(start, start + SCRATCH_BYTES);
    this.#scratch = new JsonWriter(SCRATCH_BYTES, this.#scratchBytes);
    const ringStart = start + SCRATCH_BYTES;
    // Lines behind the last text are within the memory too.
    this.#ring = new TextRing(ringStart, memory.length - ringStart - LINES_PREFETCHED * LINE_BYTES);
  }

  timestampMs(place: number): number {
    return this.#f64[(place >> 3) + TIMESTAMP_MS]!;
  }

  /** Where the text itself begins. */
  start(place: number): number {
    return place + HEADER_BYTES;
  }

  bytes(place: number): number {
    return this.#u16[(place >> 1) + BYTES]!;
  }

  /** Where the location begins, counted from the start. */
  locationAt(place: number): number {
    return this.#u16[(place >> 1) + LOCATION_AT]!;
  }

  /** Where its time and numbers begin, counted from the start. */
  numbersAt(place: number): number {
    return this.#u16[(place >> 1) + NUMBERS_AT]!;
  }

  /** The place of the text of a device's newest record; good until the next is found. */
  find(records: NewestRecords, device: number): number {
    return this.#find(records, records.notes(), device);
  }

  /**
   * The places of the texts of a page, good until the next is found; null where they don't all fit the ring. They lie
   * anywhere in many megabytes, as do records that are to be read, so all their lines are called up first: then memory
   * fetches many at a time, where copying would wait for each.
   */
  findAll(records: NewestRecords, devices: Uint32Array, count: number): Int32Array | null {
    if (count > this.#places.length) {
      this.#places = new Int32Array(count);
      this.#wanted = new Int32Array(count);
      this.#wantedDevices = new Uint32Array(count);
    }
    const places = this.#places;
    const wanted = this.#wanted;
    const notes = records.notes();
    const { oldest } = this.#ring;
    const wantedCount = this.#locate(notes, devices, count);
    records.prefetch(this.#wantedDevices, wantedCount);
    this.#prefetch(count);
    for (let i = 0; i < wantedCount; i++) {
      const row = wanted[i]!;
      places[row] = this.#find(records, notes, devices[row]!);
    }
    // What was put in may have pushed out others of this page.
    const mayMiss = this.#ring.oldest !== oldest;
    return mayMiss && this.#locate(notes, devices, count) > 0 ? null : places;
  }

  /** Notes the places of a page's texts, and which are missing or outdated; returns how many of them. */
  #locate(notes: Float64Array, devices: Uint32Array, count: number): number {
    const ring = this.#ring;
    const { oldest } = ring;
    const places = this.#places;
    const wanted = this.#wanted;
    const wantedDevices = this.#wantedDevices;
    let wantedCount = 0;
    for (let row = 0; row < count; row++) {
      const device = devices[row]!;
      const note = notes[device]!;
      if (note < oldest) {
        wanted[wantedCount] = row;
        wantedDevices[wantedCount++] = device;
      }
      const offset = Math.abs(note);
      places[row] = ring.placeOf(Math.max(oldest, offset));
    }
    return wantedCount;
  }

  #prefetch(count: number): void {
    const memory = this.#memory;
    const places = this.#places;
    let sum = 0;
    for (let row = 0; row < count; row++) {
      const place = places[row]!;
      for (let line = 0; line < LINES_PREFETCHED; line++) sum += memory[place + line * LINE_BYTES]!;
    }
    assert(sum >= 0, "bytes are not negative"); // Which keeps compilers from leaving the sum out.
  }

  #find(records: NewestRecords, notes: Float64Array, device: number): number {
    const ring = this.#ring;
    const note = notes[device]!;
    if (note >= ring.oldest) return ring.placeOf(note);
    const page = records.pageOf(device);
    if (page.dictionary !== this.#dictionary) {
      this.#dictionary = page.dictionary;
      this.#edition++;
    }
    let offset = -note; // Of the record before, where its text is there.
    if (offset < ring.oldest || !this.#rewrite(ring.placeOf(offset), page)) {
      offset = this.#encode(records, device, page);
    }
    notes[device] = offset;
    return ring.placeOf(offset);
  }

  /** Makes the text of a device that of its newer record; false where that has no room there. */
  #rewrite(place: number, page: RecordPage): boolean {
    const memory = this.#memory;
    const saysTheSame =
      this.#u32[(place >> 2) + PROFILE] === page.profile[0] &&
      this.#u32[(place >> 2) + STATE] === page.state[0] &&
      this.#u32[(place >> 2) + EDITION] === this.#edition;
    const json = this.#scratch;
    json.clear();
    this.#encoder.writeNumbers(json, page, 0);
    const numbersAt = this.numbersAt(place);
    const oldTextsAt = this.#u16[(place >> 1) + TEXTS_AT]!;
    const textsAt = numbersAt + json.length;
    if (!saysTheSame) this.#writeTexts(json, page);
    const bytes = saysTheSame ? textsAt + this.bytes(place) - oldTextsAt : numbersAt + json.length;
    if (bytes > this.#u16[(place >> 1) + CAPACITY]!) return false;
    const start = this.start(place);
    if (saysTheSame && textsAt !== oldTextsAt) {
      memory.copyWithin(start + textsAt, start + oldTextsAt, start + this.bytes(place));
    }
    const { byteOffset } = this.#scratchBytes;
    memory.copyWithin(start + numbersAt, byteOffset, byteOffset + json.length);
    this.#setHeader(place, page, bytes, textsAt);
    return true;
  }

  /** Puts the text of a record into the ring and returns its offset. */
  #encode(records: NewestRecords, device: number, page: RecordPage): number {
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
    const numbersAt = json.length;
    this.#encoder.writeNumbers(json, page, 0);
    const textsAt = json.length;
    this.#writeTexts(json, page);
    const bytes = json.length;

    const reserved = Math.ceil((HEADER_BYTES + bytes + GROWTH_BYTES) / WORD_BYTES) * WORD_BYTES;
    const capacity = reserved - HEADER_BYTES;
    assert(capacity <= U16_MAX, "where the members of a record begin is told in 16 bits");
    const offset = this.#ring.reserve(reserved);
    const place = this.#ring.placeOf(offset);
    this.#u16[(place >> 1) + CAPACITY] = capacity;
    this.#u16[(place >> 1) + LOCATION_AT] = locationAt;
    this.#u16[(place >> 1) + NUMBERS_AT] = numbersAt;
    this.#setHeader(place, page, bytes, textsAt);
    this.#memory.set(json.written(), this.start(place));
    return offset;
  }

  #writeTexts(json: JsonWriter, page: RecordPage): void {
    this.#encoder.writeTexts(json, page, 0);
    json.byte(CLOSE_BRACE);
    json.byte(CLOSE_BRACE);
    assert(json.bytes === this.#scratchBytes, "a record's text fits the memory it is written in");
  }

  /** What a newer record of the same device may have otherwise. */
  #setHeader(place: number, page: RecordPage, bytes: number, textsAt: number): void {
    this.#f64[(place >> 3) + TIMESTAMP_MS] = page.timestampMs[0]!;
    this.#u32[(place >> 2) + PROFILE] = page.profile[0]!;
    this.#u32[(place >> 2) + STATE] = page.state[0]!;
    this.#u32[(place >> 2) + EDITION] = this.#edition;
    this.#u16[(place >> 1) + BYTES] = bytes;
    this.#u16[(place >> 1) + TEXTS_AT] = textsAt;
  }
}

/**
 * Places for texts in a ring buffer, one after the other, where a new text takes the place of the oldest. A text is
 * known by its offset, counted in bytes from before the first lap on, which is never another's.
 */
export class TextRing {
  readonly #start: number;
  readonly #bytes: number;
  /** Where the lap begins and where the next text goes. */
  #lap: number;
  #next: number;

  /** A ring of so many bytes of a memory, from `start` on. */
  constructor(start: number, bytes: number) {
    this.#start = start;
    this.#bytes = bytes;
    this.#lap = 2 * bytes; // So that 0, which says there is no text, is too old to be one.
    this.#next = this.#lap;
  }

  /** Texts of smaller offsets were pushed out. */
  get oldest(): number {
    return this.#next - this.#bytes;
  }

  /**
   * Where in the memory the text of an offset begins, which was not pushed out. A 32-bit number: JavaScriptCore would
   * go on with a double, and compile all that writes JSON at positions it leads to without its integer instructions.
   */
  placeOf(offset: number): number {
    return (this.#start + offset - (offset < this.#lap ? this.#lap - this.#bytes : this.#lap)) | 0;
  }

  /** The offset of a new text of so many bytes: behind the last one, or at the start of a new lap. */
  reserve(bytes: number): number {
    assert(bytes <= this.#bytes, "a record's text fits the ring buffer");
    if (this.#next + bytes > this.#lap + this.#bytes) {
      this.#lap += this.#bytes;
      this.#next = this.#lap;
    }
    const offset = this.#next;
    this.#next += bytes;
    assert(
      offset >= this.#lap && this.#next <= this.#lap + this.#bytes,
      "a text lies within its lap of the ring",
    );
    return offset;
  }
}
