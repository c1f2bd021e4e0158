/**
 * Orders two strings as their UTF-8 bytes would be ordered, which is code point order. JavaScript's `<`
 * compares UTF-16 units, where the surrogates of U+10000 and up sort before U+E000 to U+FFFF.
 */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const unitA = a.charCodeAt(i);
    const unitB = b.charCodeAt(i);
    if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB);
  }
  return a.length - b.length;
}

/** Lifts surrogates above the rest of the 16-bit range, keeping every other order. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
