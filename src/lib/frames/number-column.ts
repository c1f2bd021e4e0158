import { pad, padded, type Views } from "./views.ts";

/*
 * A column of doubles, 8-aligned. Every value is exact, except for the sign of zero:
 *
 *    0  u8   kind
 *    1  u8   decimals
 *    8  f64  base; not present in the kinds "absent" and "doubles"
 *   16  values, padded with zeros to 8
 *
 * Most values are short decimals close to each other: value = (base + offset) / 10^decimals, where base is the least of
 * the column and the offset fits into 8, 16 or 32 bits. The highest offset means "not carried".
 */
const ABSENT = 0; // No row carries a value.
const CONSTANT = 1; // Every row carries `base`.
const OFFSETS_8 = 2;
const OFFSETS_16 = 3;
const OFFSETS_32 = 4;
const DOUBLES = 5;

const HEADER_BYTES = 16;
const DOUBLES_HEADER_BYTES = 8;

/** Positions have up to 9 decimals. If more are needed, doubles are no larger. */
const SCALES = Float64Array.from({ length: 11 }, (_, decimals) => 10 ** decimals);
/** Below 2^53 an integer and its neighbors are exact doubles. */
const INTEGER_MAX = 2 ** 53 - 1;

export function numberColumnBytesMax(count: number): number {
  return HEADER_BYTES + count * 8;
}

/** Writes the column at an 8-aligned position. Returns the position after it. */
export function encodeNumberColumn(target: Views, at: number, values: Float64Array): number {
  const count = values.length;
  const first = values[0] ?? Number.NaN;
  let same = 1;
  if (!Number.isNaN(first)) while (same < count && values[same] === first) same++;
  else while (same < count && Number.isNaN(values[same])) same++;
  if (same >= count) {
    if (Number.isNaN(first)) return writeHeader(target, at, ABSENT, 0);
    target.f64[(at + 8) >> 3] = first;
    return writeHeader(target, at, CONSTANT, 0) + 8;
  }

  // The fewest decimals that reproduce every value, and the extremes.
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  let decimals = 0;
  let scale = 1;
  for (let i = 0; i < count; i++) {
    const value = values[i]!;
    if (Number.isNaN(value)) continue;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
    while (Math.floor(value * scale + 0.5) / scale !== value) {
      if (++decimals === SCALES.length) return writeDoubles(target, at, values);
      scale = SCALES[decimals]!;
    }
  }
  const base = Math.floor(least * scale + 0.5);
  const top = Math.floor(greatest * scale + 0.5);
  if (!(base >= -INTEGER_MAX && top <= INTEGER_MAX)) return writeDoubles(target, at, values);
  const span = top - base;
  const start = at + HEADER_BYTES;
  let kind = OFFSETS_32;
  let exact = false;
  if (span < 0xff) {
    kind = OFFSETS_8;
    exact = writeOffsets8(target.bytes, start, values, scale, base);
  } else if (span < 0xffff) {
    kind = OFFSETS_16;
    exact = writeOffsets16(target.u16, start >> 1, values, scale, base);
  } else if (span < 0xffffffff) {
    exact = writeOffsets32(target.u32, start >> 2, values, scale, base);
  }
  if (!exact) return writeDoubles(target, at, values);
  target.f64[(at + 8) >> 3] = base;
  writeHeader(target, at, kind, decimals);
  return pad(target, start + count * widthOf(kind));
}

function widthOf(kind: number): number {
  return kind === OFFSETS_8 ? 1 : kind === OFFSETS_16 ? 2 : 4;
}

// One loop per width, here and for reading: a loop over several kinds of array takes ten times as long. The functions
// return false if a value would not be reproduced: more decimals, needed by a later value, may round it.

function writeOffsets8(
  to: Uint8Array,
  start: number,
  values: Float64Array,
  scale: number,
  base: number,
): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const integer = Math.floor(value * scale + 0.5);
    if (integer / scale === value) to[start + i] = integer - base;
    else if (Number.isNaN(value)) to[start + i] = 0xff;
    else return false;
  }
  return true;
}

function writeOffsets16(
  to: Uint16Array,
  start: number,
  values: Float64Array,
  scale: number,
  base: number,
): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const integer = Math.floor(value * scale + 0.5);
    if (integer / scale === value) to[start + i] = integer - base;
    else if (Number.isNaN(value)) to[start + i] = 0xffff;
    else return false;
  }
  return true;
}

function writeOffsets32(
  to: Uint32Array,
  start: number,
  values: Float64Array,
  scale: number,
  base: number,
): boolean {
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    const integer = Math.floor(value * scale + 0.5);
    if (integer / scale === value) to[start + i] = integer - base;
    else if (Number.isNaN(value)) to[start + i] = 0xffffffff;
    else return false;
  }
  return true;
}

function writeDoubles(target: Views, at: number, values: Float64Array): number {
  const start = writeHeader(target, at, DOUBLES, 0);
  target.f64.set(values, start >> 3);
  return start + values.length * 8;
}

function writeHeader(target: Views, at: number, kind: number, decimals: number): number {
  target.u32[at >> 2] = kind | (decimals << 8);
  target.u32[(at + 4) >> 2] = 0;
  return at + 8;
}

/**
 * Fills `out` from the column at `at`. Returns the position after it, or -1 if there is no valid column before `end`.
 */
export function decodeNumberColumn(source: Views, at: number, end: number, out: Float64Array): number {
  if (at + DOUBLES_HEADER_BYTES > end) return -1;
  const count = out.length;
  const kind = source.bytes[at]!;
  if (kind === ABSENT) {
    out.fill(Number.NaN);
    return at + DOUBLES_HEADER_BYTES;
  }
  if (kind === DOUBLES) return readDoubles(source, at + DOUBLES_HEADER_BYTES, end, out);
  const start = at + HEADER_BYTES;
  if (start > end) return -1;
  const base = source.f64[(at + 8) >> 3]!;
  if (kind === CONSTANT) {
    out.fill(base);
    return start;
  }
  const scale = SCALES[source.bytes[at + 1]!];
  const next = padded(start + count * widthOf(kind));
  if (kind > OFFSETS_32 || scale === undefined || next > end) return -1;
  if (kind === OFFSETS_8) readOffsets8(source.bytes, start, base, scale, out);
  else if (kind === OFFSETS_16) readOffsets16(source.u16, start >> 1, base, scale, out);
  else readOffsets32(source.u32, start >> 2, base, scale, out);
  return next;
}

function readDoubles(source: Views, start: number, end: number, out: Float64Array): number {
  const next = start + out.length * 8;
  if (next > end) return -1;
  const from = start >> 3;
  for (let i = 0; i < out.length; i++) out[i] = source.f64[from + i]!;
  return next;
}

function readOffsets8(from: Uint8Array, start: number, base: number, scale: number, out: Float64Array): void {
  for (let i = 0; i < out.length; i++) {
    const offset = from[start + i]!;
    out[i] = offset === 0xff ? Number.NaN : (base + offset) / scale;
  }
}

function readOffsets16(
  from: Uint16Array,
  start: number,
  base: number,
  scale: number,
  out: Float64Array,
): void {
  for (let i = 0; i < out.length; i++) {
    const offset = from[start + i]!;
    out[i] = offset === 0xffff ? Number.NaN : (base + offset) / scale;
  }
}

function readOffsets32(
  from: Uint32Array,
  start: number,
  base: number,
  scale: number,
  out: Float64Array,
): void {
  for (let i = 0; i < out.length; i++) {
    const offset = from[start + i]!;
    out[i] = offset === 0xffffffff ? Number.NaN : (base + offset) / scale;
  }
}
