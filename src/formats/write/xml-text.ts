import { writeReading } from "../../lib/text/json-writer.ts";

/* Texts and numbers in XML. */

/** Characters that XML 1.0 can't express, not even by reference. */
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes a text for an element or an attribute. Inexpressible characters become U+FFFD. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(FORBIDDEN, "\ufffd")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!)
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The note of a file with simplified tracks. */
export function simplifiedText(meters: number): string {
  return `Simplified: removed points are within ${meters} m of the tracks.`;
}

/** Below this JavaScript writes exponents, which a schema's decimals don't allow. */
const EXPONENT_BELOW = 1e-6;

/** The digits that every schema-conforming program must read; in degrees, this is less than an atom. */
const DECIMALS_MAX = 18;

/** Writes a number without an exponent, in up to `NUMBER_BYTES_MAX` bytes; returns the position after it. */
export function writeDecimal(view: DataView, position: number, value: number): number {
  if (Math.abs(value) >= EXPONENT_BELOW || value === 0) return writeReading(view, position, value);
  const text = value.toFixed(DECIMALS_MAX);
  let end = text.length;
  while (text[end - 1] === "0") end--;
  if (text[end - 1] === ".") return writeReading(view, position, 0);
  for (let i = 0; i < end; i++) view.setUint8(position + i, text.charCodeAt(i));
  return position + end;
}
