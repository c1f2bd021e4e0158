import { assert } from "../../lib/assert.ts";
import type { NewestRecords } from "../../model/newest-records.ts";
import type { RecordPage } from "../../model/record-page.ts";

/** A cache line of the processor. */
export const LINE_BYTES = 64;

/** One text for the newest record of each device, in a ring buffer. Subclasses decide what a text contains. */
export abstract class NewestTexts {
  protected readonly memory: Uint8Array<ArrayBuffer>;
  protected readonly ring: TextRing;
  /** How many cache lines of each text of a page are requested before the first one is read. */
  readonly #linesPrefetched: number;
  /** By row of a page, the address of its text. */
  #addresses = new Int32Array(0);
  /** Rows whose texts are missing or outdated, and their devices. */
  #stale = new Int32Array(0);
  #staleDevices = new Uint32Array(0);

  /** Stores texts in `memory` between two positions. */
  constructor(memory: Uint8Array<ArrayBuffer>, start: number, end: number, linesPrefetched: number) {
    this.memory = memory;
    this.#linesPrefetched = linesPrefetched;
    // The memory must include the cache lines after the last text.
    this.ring = new TextRing(start, end - start - linesPrefetched * LINE_BYTES);
  }

  /** One number per device, the offset of its text; see `NewestRecords.notes()`. */
  protected abstract notesOf(records: NewestRecords): Float64Array;

  /** Updates the text of a device to its newer record; false if it doesn't fit there. */
  protected abstract rewrite(address: number, page: RecordPage): boolean;

  /** Adds the text of a record to the ring and returns its offset. */
  protected abstract encode(records: NewestRecords, device: number, page: RecordPage): number;

  /** The address of the text of a device's newest record, valid until the next call. */
  find(records: NewestRecords, device: number): number {
    return this.#find(records, this.notesOf(records), device);
  }

  /**
   * The addresses of the texts of a page, valid until the next call; null if they don't all fit the ring. They are
   * spread over many megabytes, as are the records to encode, so all their cache lines are requested first: then memory
   * fetches many at a time, where copying would wait for each.
   */
  findAll(records: NewestRecords, devices: Uint32Array, count: number): Int32Array | null {
    if (count > this.#addresses.length) {
      this.#addresses = new Int32Array(count);
      this.#stale = new Int32Array(count);
      this.#staleDevices = new Uint32Array(count);
    }
    const addresses = this.#addresses;
    const stale = this.#stale;
    const notes = this.notesOf(records);
    const { oldest } = this.ring;
    const staleCount = this.#locate(notes, devices, count);
    records.prefetch(this.#staleDevices, staleCount);
    this.#prefetch(count);
    for (let i = 0; i < staleCount; i++) {
      const row = stale[i]!;
      addresses[row] = this.#find(records, notes, devices[row]!);
    }
    // New texts may have displaced others of this page.
    const mayMiss = this.ring.oldest !== oldest;
    return mayMiss && this.#locate(notes, devices, count) > 0 ? null : addresses;
  }

  /** Sets the addresses of a page's texts and collects the missing or outdated ones; returns their count. */
  #locate(notes: Float64Array, devices: Uint32Array, count: number): number {
    const { ring } = this;
    const { oldest } = ring;
    const addresses = this.#addresses;
    const stale = this.#stale;
    const staleDevices = this.#staleDevices;
    let staleCount = 0;
    for (let row = 0; row < count; row++) {
      const device = devices[row]!;
      const note = notes[device]!;
      if (note < oldest) {
        stale[staleCount] = row;
        staleDevices[staleCount++] = device;
      }
      const offset = Math.abs(note);
      addresses[row] = ring.addressOf(Math.max(oldest, offset));
    }
    return staleCount;
  }

  #prefetch(count: number): void {
    const { memory } = this;
    const addresses = this.#addresses;
    const lines = this.#linesPrefetched;
    let sum = 0;
    for (let row = 0; row < count; row++) {
      const address = addresses[row]!;
      for (let line = 0; line < lines; line++) sum += memory[address + line * LINE_BYTES]!;
    }
    assert(sum >= 0, "bytes are not negative"); // Keeps compilers from removing the sum.
  }

  #find(records: NewestRecords, notes: Float64Array, device: number): number {
    const { ring } = this;
    const note = notes[device]!;
    if (note >= ring.oldest) return ring.addressOf(note);
    const page = records.pageOf(device);
    let offset = -note; // The text of the record before, if it still exists.
    if (offset < ring.oldest || !this.rewrite(ring.addressOf(offset), page)) {
      offset = this.encode(records, device, page);
    }
    notes[device] = offset;
    return ring.addressOf(offset);
  }
}

/**
 * Allocates texts one after the other in a ring buffer, where a new text displaces the oldest. A text is identified by
 * its offset, counted in bytes over all laps, which is never reused.
 */
export class TextRing {
  readonly #start: number;
  readonly #bytes: number;
  /** The offsets at which the lap began and at which the next text goes. */
  #lap: number;
  #next: number;

  constructor(start: number, bytes: number) {
    this.#start = start;
    this.#bytes = bytes;
    this.#lap = 2 * bytes; // So that 0, which means no text, is older than every text.
    this.#next = this.#lap;
  }

  /** Texts with smaller offsets are gone. */
  get oldest(): number {
    return this.#next - this.#bytes;
  }

  /**
   * The address of the text at an offset that still exists. A 32-bit number: otherwise JavaScriptCore would continue
   * with a double, and compile all code that writes JSON at such positions without integer instructions.
   */
  addressOf(offset: number): number {
    return (this.#start + offset - (offset < this.#lap ? this.#lap - this.#bytes : this.#lap)) | 0;
  }

  /** The offset of a new text: after the last one, or at the start of a new lap. */
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

/** Within one buffer this is twice as fast. An answer that has outgrown its memory is in another buffer. */
export function copyBytes(
  source: Uint8Array,
  from: number,
  count: number,
  target: Uint8Array,
  at: number,
): void {
  if (target === source) target.copyWithin(at, from, from + count);
  else target.set(source.subarray(from, from + count), at);
}

/**
 * Copies a short text in whole words, which may write up to seven bytes more: for two cache lines a call costs more
 * than the text, and for a whole record less. No word of UTF-8 is a NaN, whose bits an engine may change.
 */
export function copyShort(source: DataView, from: number, count: number, target: DataView, at: number): void {
  for (let i = 0; i < count; i += WORD_BYTES) {
    target.setFloat64(at + i, source.getFloat64(from + i, LITTLE_ENDIAN), LITTLE_ENDIAN);
  }
}

const WORD_BYTES = 8;
const LITTLE_ENDIAN = true;
