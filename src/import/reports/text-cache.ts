import type { ReportBatchBuilder } from "../../model/report-batch.ts";

/**
 * Checked texts of columns, found by their bytes. A column repeats few texts, and a known one needs no decoding,
 * checking or interning.
 */
export interface TextCache {
  /** From now on texts are interned in this batch. */
  use(builder: ReportBatchBuilder): void;
  /** The batch's index of a known text of the column, or -1. */
  find(column: number, bytes: Uint8Array, start: number, end: number): number;
  /** Stores a text that passed the checks of the column. */
  add(column: number, bytes: Uint8Array, start: number, end: number, text: string): void;
}

/** Distinct texts, about 8 MB, enough for a large fleet. A full cache is cleared and filled again. */
const TEXTS_MAX = 65_536;
const BYTES_MAX = 4 * 1024 * 1024;

const SLOTS = 2 * TEXTS_MAX; // At most half full, so that a search ends soon.
const EMPTY = -1;

export function createTextCache(): TextCache {
  const slots = new Int32Array(SLOTS).fill(EMPTY);
  const columns = new Uint16Array(TEXTS_MAX);
  const offsets = new Uint32Array(TEXTS_MAX);
  const lengths = new Uint32Array(TEXTS_MAX);
  const texts: string[] = [];
  const arena = new Uint8Array(BYTES_MAX);
  let arenaUsed = 0;
  /** By text, its index in the batch; valid only if `batchOf` names the batch in use. */
  const numbers = new Uint32Array(TEXTS_MAX);
  const batchOf = new Uint32Array(TEXTS_MAX);
  let batch = 0;
  let builder: ReportBatchBuilder | null = null;

  /** The slot of the text, or the empty slot where it belongs. */
  function findSlot(column: number, bytes: Uint8Array, start: number, end: number): number {
    let hash = 0x811c9dc5 ^ column;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash ^= hash >>> 15;
    for (let slot = hash & (SLOTS - 1); ; slot = (slot + 1) & (SLOTS - 1)) {
      const entry = slots[slot]!;
      if (entry === EMPTY || isEqual(entry, column, bytes, start, end)) return slot;
    }
  }

  function isEqual(entry: number, column: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (columns[entry] !== column || lengths[entry] !== end - start) return false;
    let at = offsets[entry]!;
    for (let i = start; i < end; i++) if (arena[at++] !== bytes[i]) return false;
    return true;
  }

  function forget(): void {
    slots.fill(EMPTY);
    texts.length = 0;
    arenaUsed = 0;
  }

  return {
    use(next) {
      builder = next;
      batch++;
    },
    find(column, bytes, start, end) {
      const entry = slots[findSlot(column, bytes, start, end)]!;
      if (entry === EMPTY) return -1;
      if (batchOf[entry] !== batch) {
        numbers[entry] = builder!.text(texts[entry]!);
        batchOf[entry] = batch;
      }
      return numbers[entry]!;
    },
    add(column, bytes, start, end, text) {
      if (end - start > BYTES_MAX) return;
      if (texts.length === TEXTS_MAX || arenaUsed + end - start > BYTES_MAX) forget();
      const slot = findSlot(column, bytes, start, end);
      if (slots[slot] !== EMPTY) return;
      const entry = texts.length;
      slots[slot] = entry;
      columns[entry] = column;
      offsets[entry] = arenaUsed;
      lengths[entry] = end - start;
      batchOf[entry] = 0; // 0 is no batch: the first is 1.
      arena.set(bytes.subarray(start, end), arenaUsed);
      arenaUsed += end - start;
      texts.push(text);
    },
  };
}
