import { createFragment, writeFourDigits } from "../../lib/text/json-writer.ts";

/*
 * The two numbers of a nearby item that differ in each answer. They are overwritten in a copy of the item's text, so
 * they have a fixed width: JSON allows blanks before a number and zeros after it. A page has a hundred items;
 * `Math.round` and a division for each digit took half as long as all copying of the page.
 */

/** One page of nearby devices, in columns that may be longer than `count`. */
export interface NearbyColumns {
  readonly count: number;
  readonly devices: Uint32Array;
  readonly meters: Float64Array;
  readonly bearings: Float64Array;
}

const SLOTS = ',"distance_miles": 0.0000,"bearing_degrees":  0.00,"location":';
const DISTANCE_BEFORE_LOCATION = SLOTS.length - SLOTS.indexOf(" 0.0000");
const BEARING_BEFORE_LOCATION = SLOTS.length - SLOTS.indexOf("  0.00,");

/** The text between the device's id and the location. */
export const SLOTS_FRAGMENT = createFragment(SLOTS);

const LITTLE_ENDIAN = true;

// Digits as numbers of their width, each written by one store.
const WHOLE_MILES = new Uint16Array(digits(100, (miles) => String(miles).padStart(2)));
const WHOLE_DEGREES = new Uint32Array(digits(361, (degrees) => `${degrees % 360}.`.padStart(4)));
const HUNDREDTHS = new Uint16Array(digits(100, (hundredths) => String(hundredths).padStart(2, "0")));

/** ` 1.2345`: 7 bytes with four decimals, below 100. */
export function writeDistance(view: DataView, location: number, miles: number): void {
  const at = location - DISTANCE_BEFORE_LOCATION;
  const scaled = (miles * 1e4 + 0.5) | 0;
  const whole = (scaled / 1e4) | 0;
  view.setUint16(at, WHOLE_MILES[whole]!, LITTLE_ENDIAN);
  writeFourDigits(view, at + 3, scaled - whole * 10_000);
}

/** `  7.25`: 6 bytes with two decimals, 0 to 359.99; 359.999 rounds to north. */
export function writeBearing(view: DataView, location: number, degrees: number): void {
  const at = location - BEARING_BEFORE_LOCATION;
  const scaled = (degrees * 100 + 0.5) | 0;
  const whole = (scaled / 100) | 0;
  view.setUint32(at, WHOLE_DEGREES[whole]!, LITTLE_ENDIAN);
  view.setUint16(at + 4, HUNDREDTHS[scaled - whole * 100]!, LITTLE_ENDIAN);
}

/** The texts of the numbers below a bound, concatenated. */
function digits(bound: number, textOf: (value: number) => string): ArrayBuffer {
  const texts = Array.from({ length: bound }, (_, value) => textOf(value));
  return new TextEncoder().encode(texts.join("")).buffer;
}
