import fc from "fast-check";

/** Texts that decoders, CSV, JSON, SQL, paths or normalization may misinterpret. */
export const ODD_TEXTS: readonly string[] = [
  ..."\uFEFF \uFFFD \uFFFE \uFFFF \uE000 \u{10FFFF} \u{1F68C} \u2028 \u2029 \u200B \u00A0 \u0301 \u00E9 e\u0301".split(
    " ",
  ),
  ..."\uFEFFbus \uFEFF\uFEFFbus bus bus\uFEFF b\uFEFFus B\u00FCs Bu\u0308s \uFB03 ffi \u212B \u00C5".split(
    " ",
  ),
  ...'" "" \' \'\' \\ \\" \\u0041 , ,, a,"b",c null NULL true NaN % %41 $user $1 ; -- /* ["x"] {"a":1} a/b a?b#c a&b=c +'.split(
    " ",
  ),
  " ",
  " a",
  "a ",
  "\u{1F68C}".repeat(128),
  "\uFEFF".repeat(128),
  "x".repeat(127).concat("\uFEFF"),
];

/** No text of a report may hold these. */
export const REFUSED_TEXTS: readonly string[] = [
  "a\nb",
  "a\rb",
  "a\tb",
  "a\u0000b",
  "\u0000",
  "\uD800",
  "a\uDC00",
  "\uDE8C\uD83D",
];

const units = fc.constantFrom(
  "a",
  "B",
  "\uFEFF",
  "\u2028",
  "\u{1F68C}",
  '"',
  ",",
  "\\",
  "'",
  "\u0301",
  " ",
  "\uFFFF",
  "%",
);

/** Odd texts of up to 128 characters, and combinations of them. */
export const arbitraryOddText = fc.oneof(
  fc.constantFrom(...ODD_TEXTS),
  fc.string({ unit: units, minLength: 1, maxLength: 12 }),
);
