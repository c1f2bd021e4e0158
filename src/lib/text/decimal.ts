import { DOT, MINUS, ZERO } from "./ascii.ts";

/** Digits, with an optional sign and decimals. */
const PLAIN_DECIMAL = /^-?\d+(\.\d+)?$/;

/** JSON's numbers, and those with leading zeros, as programs write them into columns. */
const DECIMAL = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const DECIMAL_BYTES_MAX = 64; // Longer ones are no measurement; a double needs 17 digits.

/** Integers of 15 digits and powers of ten up to 10^22 are exact doubles, so one division rounds once. */
const EXACT_DIGITS_MAX = 15;
const POWERS_OF_TEN = Array.from({ length: EXACT_DIGITS_MAX + 1 }, (_, power) => 10 ** power);

/**
 * Parses the decimal number in a range of `bytes`, to the nearest double like `Number()`; NaN if it is not one (`0x10`,
 * ` 10`, `+1`, `.5`, `Infinity`, nothing).
 */
export function parseDecimal(bytes: Uint8Array, start: number, end: number): number {
  const negative = bytes[start] === MINUS;
  const first = negative ? start + 1 : start;
  // The dot is not a digit, so there may be one byte more than digits.
  if (end - first > EXACT_DIGITS_MAX + 1) return parseLongDecimal(bytes, start, end);

  let digits = 0;
  let dot = -1;
  for (let i = first; i < end; i++) {
    const digit = bytes[i]! - ZERO;
    if (digit >= 0 && digit <= 9) digits = digits * 10 + digit;
    else if (bytes[i] === DOT && dot < 0 && i > first) dot = i;
    else return parseLongDecimal(bytes, start, end);
  }
  if (first >= end || dot === end - 1) return Number.NaN;
  if (dot < 0) {
    if (end - first > EXACT_DIGITS_MAX) return parseLongDecimal(bytes, start, end);
    return negative ? -digits : digits;
  }
  const value = digits / POWERS_OF_TEN[end - dot - 1]!;
  return negative ? -value : value;
}

/** Parses any length and exponent, by way of a string. */
function parseLongDecimal(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > DECIMAL_BYTES_MAX) return Number.NaN;
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i]!);
  return DECIMAL.test(text) ? Number(text) : Number.NaN;
}

/** Parses a text of digits with an optional minus sign and decimals; NaN for anything else. */
export function parsePlainDecimal(text: string): number {
  const end = text.length;
  const negative = text.charCodeAt(0) === MINUS;
  const first = negative ? 1 : 0;
  if (end - first > EXACT_DIGITS_MAX || end === first) return parseLongPlainDecimal(text);

  let digits = 0;
  let dot = -1;
  for (let i = first; i < end; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= ZERO && unit <= ZERO + 9) digits = digits * 10 + (unit - ZERO);
    else if (unit === DOT && dot < 0 && i > first && i < end - 1) dot = i;
    else return Number.NaN;
  }
  const value = dot < 0 ? digits : digits / POWERS_OF_TEN[end - dot - 1]!;
  return negative ? -value : value;
}

function parseLongPlainDecimal(text: string): number {
  return PLAIN_DECIMAL.test(text) ? Number(text) : Number.NaN;
}
