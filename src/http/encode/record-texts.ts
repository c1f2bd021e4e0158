import { assert } from "../../lib/assert.ts";
import { CLOSE_BRACE } from "../../lib/text/ascii.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import { FieldChoice } from "../../model/field-choice.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import { deviceDigest, RECORD_ID_DIGEST_CHARACTERS } from "../../model/record-id.ts";
import type { RecordDictionary, RecordPage } from "../../model/record-page.ts";
import { SLOTS_FRAGMENT } from "./nearby-slots.ts";
import { NewestTexts } from "./newest-texts.ts";
import { createRecordEncoder } from "./record-encoder.ts";

/*
 * A text in the ring buffer, after a header:
 *
 *   | timestampMs f64 | profile u32 | state u32 | edition u32 |
 *   | bytes u16 | capacity u16 | locationAt u16 | numbersAt u16 | textsAt u16 | hasDigest u16 |
 *   | digest: 16 characters | text ... | room to grow ... |
 *
 *   ,{"device_id":"bus-1","distance_miles": 0.0000,"bearing_degrees":  0.00,"location":{"device_id":"bus-1",
 *   "app_id":"default","timestamp":1764000000000, ... ,"user_id":"ANONYMOUS", ... }}
 *
 * The text is an item of a nearby answer. Its location, which begins at `locationAt`, is the record of all other
 * answers. The time and numbers begin at `numbersAt`; profile and state, numbered by the dictionary of the edition, at
 * `textsAt`. The digest is the device's part of record ids, added when an answer first needs it.
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
const HAS_DIGEST = 15;
const DIGEST_AT_BYTE = 32;
const HEADER_BYTES = DIGEST_AT_BYTE + RECORD_ID_DIGEST_CHARACTERS;
const WORD_BYTES = 8;
const U16_MAX = 0xffff;

/** Lets most newer records of a device, with a few more digits, fit where the last one was. */
const GROWTH_BYTES = 16;
/** More than the longest record: its texts have 128 characters at most. */
const SCRATCH_BYTES = 16_384;
/** The cache lines of a record with all fields. */
const LINES_PREFETCHED = 9;

/**
 * Newest records as JSON text in a ring buffer. If a device's record changes, its text stays at its address while it
 * fits: mostly only numbers are rewritten. Texts that are first requested together are stored together.
 */
export class RecordTexts extends NewestTexts {
  // Views of the memory with wider numbers: until a DataView's methods are inlined, a header costs half a record.
  readonly #u16: Uint16Array;
  readonly #u32: Uint32Array;
  readonly #f64: Float64Array;
  readonly #encoder = createRecordEncoder(new FieldChoice("current"));
  /** Writes into the same memory, within which copying is cheapest. */
  readonly #scratch: JsonWriter;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;
  /** The current dictionary of profiles and states, and its edition number. */
  #dictionary: RecordDictionary | null = null;
  #edition = 0;

  /** Stores texts in `memory` between two positions, both multiples of 8. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number, end: number) {
    super(memory, start + SCRATCH_BYTES, end, LINES_PREFETCHED);
    this.#u16 = new Uint16Array(memory.buffer);
    this.#u32 = new Uint32Array(memory.buffer);
    this.#f64 = new Float64Array(memory.buffer);
    this.#scratchBytes = memory.subarray(start, start + SCRATCH_BYTES);
    this.#scratch = new JsonWriter(SCRATCH_BYTES, this.#scratchBytes);
  }

  timestampMs(address: number): number {
    return this.#f64[(address >> 3) + TIMESTAMP_MS]!;
  }

  start(address: number): number {
    return address + HEADER_BYTES;
  }

  bytes(address: number): number {
    return this.#u16[(address >> 1) + BYTES]!;
  }

  /** The position of the location, relative to the start. */
  locationAt(address: number): number {
    return this.#u16[(address >> 1) + LOCATION_AT]!;
  }

  /** The position of the location's time and numbers, relative to the start. */
  numbersAt(address: number): number {
    return this.#u16[(address >> 1) + NUMBERS_AT]!;
  }

  /** The address of the device's part of record ids. Hashing it costs more than everything else about its answer. */
  digestAt(address: number, records: NewestRecords, device: number): number {
    const digestAt = address + DIGEST_AT_BYTE;
    const flag = (address >> 1) + HAS_DIGEST;
    if (this.#u16[flag] === 0) {
      encoder.encodeInto(
        deviceDigest(records.appId, records.deviceId(device)),
        this.memory.subarray(digestAt, digestAt + RECORD_ID_DIGEST_CHARACTERS),
      );
      this.#u16[flag] = 1;
    }
    return digestAt;
  }

  protected notesOf(records: NewestRecords): Float64Array {
    return records.notes();
  }

  /** Updates the text of a device to its newer record; false if it doesn't fit there. */
  protected rewrite(address: number, page: RecordPage): boolean {
    const { memory } = this;
    this.#noteEdition(page);
    const hasSameTexts =
      this.#u32[(address >> 2) + PROFILE] === page.profile[0] &&
      this.#u32[(address >> 2) + STATE] === page.state[0] &&
      this.#u32[(address >> 2) + EDITION] === this.#edition;
    const json = this.#scratch;
    json.clear();
    this.#encoder.writeNumbers(json, page, 0);
    const numbersAt = this.numbersAt(address);
    const oldTextsAt = this.#u16[(address >> 1) + TEXTS_AT]!;
    const textsAt = numbersAt + json.length;
    if (!hasSameTexts) this.#writeTexts(json, page);
    const bytes = hasSameTexts ? textsAt + this.bytes(address) - oldTextsAt : numbersAt + json.length;
    if (bytes > this.#u16[(address >> 1) + CAPACITY]!) return false;
    const start = this.start(address);
    if (hasSameTexts && textsAt !== oldTextsAt) {
      memory.copyWithin(start + textsAt, start + oldTextsAt, start + this.bytes(address));
    }
    const { byteOffset } = this.#scratchBytes;
    memory.copyWithin(start + numbersAt, byteOffset, byteOffset + json.length);
    this.#setHeader(address, page, bytes, textsAt);
    return true;
  }

  /** Adds the text of a record to the ring and returns its offset. */
  protected encode(records: NewestRecords, device: number, page: RecordPage): number {
    this.#noteEdition(page);
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
    assert(capacity <= U16_MAX, "positions within a record's text fit in 16 bits");
    const offset = this.ring.reserve(reserved);
    const address = this.ring.addressOf(offset);
    this.#u16[(address >> 1) + CAPACITY] = capacity;
    this.#u16[(address >> 1) + LOCATION_AT] = locationAt;
    this.#u16[(address >> 1) + NUMBERS_AT] = numbersAt;
    this.#u16[(address >> 1) + HAS_DIGEST] = 0;
    this.#setHeader(address, page, bytes, textsAt);
    this.memory.set(json.written(), this.start(address));
    return offset;
  }

  #writeTexts(json: JsonWriter, page: RecordPage): void {
    this.#encoder.writeTexts(json, page, 0);
    json.byte(CLOSE_BRACE);
    json.byte(CLOSE_BRACE);
    assert(json.bytes === this.#scratchBytes, "a record's text fits the memory it is written in");
  }

  /** Profiles and states of another dictionary have other numbers. */
  #noteEdition({ dictionary }: RecordPage): void {
    if (dictionary === this.#dictionary) return;
    this.#dictionary = dictionary;
    this.#edition++;
  }

  /** Sets the part of the header that a newer record of the same device may change. */
  #setHeader(address: number, page: RecordPage, bytes: number, textsAt: number): void {
    this.#f64[(address >> 3) + TIMESTAMP_MS] = page.timestampMs[0]!;
    this.#u32[(address >> 2) + PROFILE] = page.profile[0]!;
    this.#u32[(address >> 2) + STATE] = page.state[0]!;
    this.#u32[(address >> 2) + EDITION] = this.#edition;
    this.#u16[(address >> 1) + BYTES] = bytes;
    this.#u16[(address >> 1) + TEXTS_AT] = textsAt;
  }
}

const encoder = new TextEncoder();
