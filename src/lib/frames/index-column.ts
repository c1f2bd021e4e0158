import { pad, padded, type Views } from "./views.ts";

/*
 * A column of 32-bit indexes, 8-aligned:
 *
 *    0  u8   kind: the bytes of an index (1, 2 or 4), or 0 if all indexes are the same
 *    4  u32  that index
 *    8  indexes, padded with zeros to 8
 */
const SAME = 0;
const HEADER_BYTES = 8;

export function indexColumnBytesMax(count: number): number {
  return HEADER_BYTES + padded(count * 4);
}

/** Writes the column at an 8-aligned position. Returns the position after it. */
export function encodeIndexColumn(target: Views, at: number, values: Uint32Array): number {
  const count = values.length;
  const first = values[0] ?? 0;
  let greatest = first;
  let same = true;
  for (let i = 1; i < count; i++) {
    const value = values[i]!;
    if (value !== first) same = false;
    if (value > greatest) greatest = value;
  }
  const kind = same ? SAME : greatest <= 0xff ? 1 : greatest <= 0xffff ? 2 : 4;
  target.u32[at >> 2] = kind;
  target.u32[(at + 4) >> 2] = same ? first : 0;
  const start = at + HEADER_BYTES;
  if (kind === 1) target.bytes.set(values, start);
  else if (kind === 2) target.u16.set(values, start >> 1);
  else if (kind === 4) target.u32.set(values, start >> 2);
  return pad(target, start + count * kind);
}

/**
 * Fills `out` from the column at `at`. Returns the position after it, or -1 if there is no valid column before `end`,
 * or an index is not below `limit`.
 */
export function decodeIndexColumn(
  source: Views,
  at: number,
  end: number,
  limit: number,
  out: Uint32Array,
): number {
  const count = out.length;
  const start = at + HEADER_BYTES;
  if (start > end) return -1;
  const kind = source.bytes[at]!;
  if (kind === SAME) {
    const value = source.u32[(at + 4) >> 2]!;
    out.fill(value);
    return count === 0 || value < limit ? start : -1;
  }
  const next = padded(start + count * kind);
  if (next > end) return -1;
  let greatest = 0;
  if (kind === 1) greatest = copyIndexes8(source.bytes, start, out);
  else if (kind === 2) greatest = copyIndexes16(source.u16, start >> 1, out);
  else if (kind === 4) greatest = copyIndexes32(source.u32, start >> 2, out);
  else return -1;
  return greatest < limit ? next : -1;
}

// One loop per width: a loop over several kinds of array takes ten times as long.

function copyIndexes8(from: Uint8Array, start: number, out: Uint32Array): number {
  let greatest = 0;
  for (let i = 0; i < out.length; i++) {
    const value = from[start + i]!;
    out[i] = value;
    if (value > greatest) greatest = value;
  }
  return greatest;
}

function copyIndexes16(from: Uint16Array, start: number, out: Uint32Array): number {
  let greatest = 0;
  for (let i = 0; i < out.length; i++) {
    const value = from[start + i]!;
    out[i] = value;
    if (value > greatest) greatest = value;
  }
  return greatest;
}

function copyIndexes32(from: Uint32Array, start: number, out: Uint32Array): number {
  let greatest = 0;
  for (let i = 0; i < out.length; i++) {
    const value = from[start + i]!;
    out[i] = value;
    if (value > greatest) greatest = value;
  }
  return greatest;
}
