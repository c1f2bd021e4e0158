import { assert } from "../../../src/lib/assert.ts";
import { CELL_BITS_MAX } from "../../../src/model/geo/geohash.ts";

const BITS_PER_CHARACTER = 5;
const BASE32 = "0123456789bcdefghjkmnpqrstuvwxyz";

/** The geohash of a cell, whose bits must be a multiple of five: its number in base 32. */
export function geohashText(cell: number, bits: number): string {
  assert(
    bits % BITS_PER_CHARACTER === 0 && bits <= CELL_BITS_MAX,
    "a geohash has whole characters, at most ten",
  );
  let text = "";
  let rest = cell;
  for (let i = 0; i < bits; i += BITS_PER_CHARACTER) {
    text = BASE32[rest % 32]! + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** Parses a lower-case geohash of one to ten characters; null for other text. */
export function parseGeohash(text: string): { readonly cell: number; readonly bits: number } | null {
  const bits = text.length * BITS_PER_CHARACTER;
  if (bits === 0 || bits > CELL_BITS_MAX) return null;
  let cell = 0;
  for (const character of text) {
    const digit = BASE32.indexOf(character);
    if (digit < 0) return null;
    cell = cell * 32 + digit;
  }
  return { cell, bits };
}
