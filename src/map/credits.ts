/* The attribution of a map file, which may be HTML, as text with links. The file is not trusted. */

/** A piece of an attribution. */
export interface Credit {
  /** Plain text. A caller that puts it into HTML has to escape it. */
  readonly text: string;
  /** An `https` address; null if the text is not a link. */
  readonly url: string | null;
}

const HTML_CHARACTERS_MAX = 4000;
const TEXT_CHARACTERS_MAX = 200;
const URL_CHARACTERS_MAX = 300;

const LINK = /<a\s[^<>]*?\bhref\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')[^<>]*>([\s\S]*?)<\/a>/gi;

/** What a browser would show, in pieces; none if there is no attribution. */
export function parseCredits(attribution: unknown): readonly Credit[] {
  if (typeof attribution !== "string") return [];
  const html = attribution.slice(0, HTML_CHARACTERS_MAX);
  const credits: Credit[] = [];
  let at = 0;
  for (const { index, 0: link, 1: quoted, 2: otherwise, 3: content } of html.matchAll(LINK)) {
    credits.push({ text: textOfHtml(html.slice(at, index)), url: null });
    credits.push({ text: textOfHtml(content!), url: safeUrl(quoted ?? otherwise!) });
    at = index + link.length;
  }
  credits.push({ text: textOfHtml(html.slice(at)), url: null });
  return trimmed(credits);
}

export function textOf(credits: readonly Credit[]): string {
  return credits.map(({ text }) => text).join("");
}

function safeUrl(href: string): string | null {
  const url = URL.parse(withoutEntities(href));
  const isSafe = url?.protocol === "https:" && url.username === "" && url.password === "";
  return isSafe && url.href.length <= URL_CHARACTERS_MAX ? url.href : null;
}

/** Without blanks around all of it, empty pieces, and what is too long. */
function trimmed(credits: readonly Credit[]): Credit[] {
  const rest: Credit[] = [];
  let text = "";
  for (const credit of credits) {
    const isAfterBlank = text === "" || text.endsWith(" ");
    const own = isAfterBlank ? credit.text.replace(/^ /, "") : credit.text;
    const piece = own.slice(0, TEXT_CHARACTERS_MAX - text.length);
    if (piece === "") continue;
    rest.push({ ...credit, text: piece });
    text += piece;
  }
  const last = rest.at(-1);
  if (last !== undefined) rest[rest.length - 1] = { ...last, text: last.text.trimEnd() };
  return rest.filter((credit) => credit.text !== "");
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  copy: "©",
  gt: ">",
  lt: "<",
  nbsp: " ",
  quot: '"',
};

/** The text that a browser would show for HTML; spaces of any kind become one blank. */
function textOfHtml(html: string): string {
  return withoutEntities(html.replace(/<[^<>]*>/g, "")).replace(/[\s\p{Cc}]+/gu, " ");
}

function withoutEntities(html: string): string {
  return html.replace(
    /&(?:([a-z]+)|#(\d{1,6})|#x([0-9a-f]{1,5}));/gi,
    (reference, name, decimal, hexadecimal) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? reference;
      const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      return String.fromCodePoint(code);
    },
  );
}
