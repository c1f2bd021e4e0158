import type { Draws } from "../run/draws.ts";

/*
 * Texts that some layer may take for others, or for something of its own. Control characters and lone surrogates are
 * refused at the door, so none of them is here.
 */
const ODD: readonly ((name: string) => string)[] = [
  (name) => `\uFEFF${name}`, // Dropped by whoever takes it for a mark of the byte order.
  (name) => `\uFEFF\uFEFF${name}`,
  (name) => `${name}\uFEFF`,
  (name) => ` ${name}`,
  (name) => `${name} `,
  (name) => `${name}\u00A0`,
  (name) => `${name}\u200B`, // No width, and not white space either.
  (name) => `${name}\u2028${name}`, // Ends a line for some.
  (name) => `${name}\u00E9`, // The same letter twice: composed,
  (name) => `${name}e\u0301`, // and not.
  (name) => `${name}\u{1F68C}`, // Four bytes of UTF-8, two units of UTF-16.
  (name) => `${name}\uFFFD`, // What decoders put for bytes that are no UTF-8.
  (name) => `${name}\uFFFF`,
  (name) => `\u202E${name}`,
  (name) => name.toUpperCase(),
  (name) => `"${name}"`,
  (name) => `${name},'";`,
  (name) => `../${name}`,
  (name) => `\\${name}\\u0000`,
  () => "WHEREWAL",
  () => "null",
];

/** A name, and others that are easily taken for it. */
export function drawAlikes(name: string, count: number, draws: Draws): string[] {
  const names = new Set([name]);
  while (names.size < count) names.add(draws.pick(ODD)(name));
  return [...names];
}

export function drawOddText(draws: Draws): string {
  return draws.pick(ODD)(draws.pick(["Pixel 9", "", "ü", "true"]));
}
