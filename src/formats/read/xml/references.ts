/** XML's own entities. Those that a file declares are never looked up: they stay as they are written. */
const PREDEFINED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const REFERENCE = /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;

/** A text with what its references to characters stand for. */
export function withoutReferences(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (reference, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return PREDEFINED[name]!;
    const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
    return isCharacter(code) ? String.fromCodePoint(code) : reference;
  });
}

/** Of characters: all but zero and the halves of surrogate pairs. */
function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}
