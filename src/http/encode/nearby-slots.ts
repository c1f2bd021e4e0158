import { createFragment, writeFourDigits } from "../../lib/text/json-writer.ts";

/*
 * The two numbers of an item of nearby's results that are another in each answer. They are written over in a copy of
 * the item's text, so they have a fixed width: JSON allows blanks before a number and zeros after it.
 */

const SLOTS = ',"distance_miles": 0.0000,"bearing_degrees":  0.00,"location":';
const DISTANCE_BEFORE_LOCATION = SLOTS.length - SLOTS.indexOf(" 0.0000");
const BEARING_BEFORE_LOCATION = SLOTS.length - SLOTS.indexOf("  0.00,");

const BLANK = 0x20;
const DIGIT_0 = 0x30;

/** What stands between the device's id and the location. */
export const SLOTS_FRAGMENT = createFragment(SLOTS);

/** ` 1.2345`: 7 bytes with four decimals, below 100. */
export function writeDistance(bytes: Uint8Array, location: number, miles: number): void {
  const at = location - DISTANCE_BEFORE_LOCATION;
  const scaled = Math.round(miles * 1e4) | 0;
  const whole = (scaled / 1e4) | 0;
  const tens = (whole / 10) | 0;
  bytes[at] = tens === 0 ? BLANK : DIGIT_0 + tens;
  bytes[at + 1] = DIGIT_0 + whole - tens * 10;
  writeFourDigits(bytes, at + 3, scaled - whole * 10_000);
}

/** `  7.25`: 6 bytes with two decimals, 0 to 359.99. */
export function writeBearing(bytes: Uint8Array, location: number, degrees: number): void {
  const at = location - BEARING_BEFORE_LOCATION;
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
