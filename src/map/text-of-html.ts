const HTML_CHARACTERS_MAX = 4000;
const TEXT_CHARACTERS_MAX = 200;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  copy: "©",
  gt: ">",
  lt: "<",
  nbsp: " ",
  quot: '"',
};

/** What a browser would show of a line of HTML. It is text: whoever puts it into HTML again has to escape it. */
export function textOfHtml(html: string): string {
  return html
    .slice(0, HTML_CHARACTERS_MAX)
    .replace(/<[^<>]*>/g, "")
    .replace(/&(?:([a-z]+)|#(\d{1,6})|#x([0-9a-f]{1,5}));/gi, (reference, name, decimal, hexadecimal) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? reference;
      const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      return String.fromCodePoint(code);
    })
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, TEXT_CHARACTERS_MAX);
}
