import { assert } from "../../lib/assert.ts";
import { COMMA } from "../../lib/text/ascii.ts";
import { JsonWriter } from "../../lib/text/json-writer.ts";
import { FieldChoice } from "../../model/field-choice.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordPage } from "../../model/record-page.ts";
import { LINE_BYTES, NewestTexts } from "./newest-texts.ts";
import { createRecordEncoder } from "./record-encoder.ts";

/** The fields that most maps and lists need. */
const POSITION = new FieldChoice("current", ["latitude", "longitude"]);
/** A position's text begins with these. */
const TIME = new FieldChoice("current", []);

/** Whether answers with this choice are copied from `PositionTexts`. */
export function isInPositions(fields: FieldChoice): boolean {
  return fields.key === POSITION.key || isTimeAlone(fields); // Equal choices of other kinds have the same text.
}

/** Whether records show where a device is, or only when it was there. */
export function isTimeAlone({ key }: FieldChoice): boolean {
  return key === TIME.key;
}

/*
 * A text in the ring buffer, after a header:
 *
 *   | bytes u16 | capacity u16 | idBytes u16 | timeEnd u16 | text ... | room to grow ... |
 *
 *   {"device_id":"bus-1","timestamp":1764000000000,"latitude":53.447185,"longitude":-2.91799
 *
 * The text has no closing brace, and its timestamp ends at `timeEnd`. It begins at a cache line and mostly takes two of
 * them, where a whole record takes nine.
 */
const BYTES = 0; // In cells of two bytes.
const CAPACITY = 1;
const ID_BYTES = 2;
const TIME_END = 3;
const HEADER_BYTES = 8;
const HEAD = '{"device_id":';

/** More than the longest record: an id has 128 characters. */
const SCRATCH_BYTES = 2048;
const LINES_PREFETCHED = 2;

/** Where and when devices are, as JSON text. If a device moves, its numbers are rewritten where they are. */
export class PositionTexts extends NewestTexts {
  readonly #u16: Uint16Array;
  readonly #encoder = createRecordEncoder(POSITION);
  /** Writes into the same memory, within which copying is cheapest. */
  readonly #scratch: JsonWriter;
  readonly #scratchBytes: Uint8Array<ArrayBuffer>;

  /** Stores texts in `memory` between two positions; `start` is a multiple of a cache line. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number, end: number) {
    super(memory, start + SCRATCH_BYTES, end, LINES_PREFETCHED);
    this.#u16 = new Uint16Array(memory.buffer);
    this.#scratchBytes = memory.subarray(start, start + SCRATCH_BYTES);
    this.#scratch = new JsonWriter(SCRATCH_BYTES, this.#scratchBytes);
  }

  start(address: number): number {
    return address + HEADER_BYTES;
  }

  bytes(address: number): number {
    return this.#u16[(address >> 1) + BYTES]!;
  }

  /** How many bytes the device's id and the time take. */
  timeEnd(address: number): number {
    return this.#u16[(address >> 1) + TIME_END]!;
  }

  /** Where the device's id is, as JSON text with its quotes. */
  idStart(address: number): number {
    return address + HEADER_BYTES + HEAD.length;
  }

  idBytes(address: number): number {
    return this.#u16[(address >> 1) + ID_BYTES]!;
  }

  protected notesOf(records: NewestRecords): Float64Array {
    return records.positionNotes();
  }

  protected rewrite(address: number, page: RecordPage): boolean {
    const json = this.#scratch;
    json.clear();
    const timeBytes = this.#writeNumbers(json, page);
    const numbersAt = HEAD.length + this.idBytes(address);
    const bytes = numbersAt + json.length;
    if (bytes > this.#u16[(address >> 1) + CAPACITY]!) return false;
    const { byteOffset } = this.#scratchBytes;
    this.memory.copyWithin(this.start(address) + numbersAt, byteOffset, byteOffset + json.length);
    this.#setHeader(address, bytes, numbersAt + timeBytes);
    return true;
  }

  protected encode(records: NewestRecords, device: number, page: RecordPage): number {
    const json = this.#scratch;
    json.clear();
    json.text(HEAD);
    json.string(records.deviceId(device));
    const idBytes = json.length - HEAD.length;
    const numbersAt = json.length;
    const timeBytes = this.#writeNumbers(json, page);
    const bytes = json.length;
    // The rest of the last line is room to grow.
    const reserved = Math.ceil((HEADER_BYTES + bytes) / LINE_BYTES) * LINE_BYTES;
    const offset = this.ring.reserve(reserved);
    const address = this.ring.addressOf(offset);
    this.#setHeader(address, bytes, numbersAt + timeBytes);
    this.#u16[(address >> 1) + CAPACITY] = reserved - HEADER_BYTES;
    this.#u16[(address >> 1) + ID_BYTES] = idBytes;
    this.memory.set(json.written(), this.start(address));
    return offset;
  }

  /** Returns how many bytes the time takes, which comes first. */
  #writeNumbers(json: JsonWriter, page: RecordPage): number {
    const start = json.length;
    this.#encoder.writeNumbers(json, page, 0);
    const { bytes } = json;
    assert(bytes === this.#scratchBytes, "a position's text fits the memory it is written in");
    let end = start + 1; // After the comma.
    while (end < json.length && bytes[end] !== COMMA) end++;
    return end - start;
  }

  #setHeader(address: number, bytes: number, timeEnd: number): void {
    this.#u16[(address >> 1) + BYTES] = bytes;
    this.#u16[(address >> 1) + TIME_END] = timeEnd;
  }
}
