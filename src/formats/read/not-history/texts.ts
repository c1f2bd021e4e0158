import type { Beginning } from "../format.ts";
import type { Telltale } from "./not-history.ts";

/** Files with nothing in them. */
export const EMPTY: Telltale = {
  kind: "empty",
  answer: "is empty",
  tells: ({ bytes, text, isWhole }) => isWhole && (bytes.length === 0 || isEmptyJson(text)),
};

/** `{}`, `[]` and lists that nothing was put into. */
function isEmptyJson(text: string): boolean {
  if (text.length > EMPTY_CHARACTERS_MAX || !/^[{[]/.test(text)) return false;
  return /^[\s[\]{},]*$/.test(text.replaceAll(/"[^"]*"\s*:/g, ""));
}

const EMPTY_CHARACTERS_MAX = 1024;

/** Texts that no format would take for its own. */
export const OTHER_TEXTS: readonly Telltale[] = [
  {
    kind: "Apple Health records",
    answer: "has no positions; those are in the GPX files of workout-routes, beside it",
    tells: ({ text }) =>
      /^(<\?xml[^>]*>\s*)?(<!DOCTYPE HealthData\b|<HealthData\b|<ClinicalDocument\b)/.test(text),
  },
  {
    kind: "plist",
    answer: "is a property list of a Mac or an iPhone, no history",
    tells: ({ text }) => /^(<\?xml[^>]*>\s*)?(<!DOCTYPE plist\b|<plist\b)/.test(text),
  },
  {
    kind: "html",
    answer: "is a web page, for reading; look for the data beside it",
    tells: ({ text }) => /^(<\?xml[^>]*>\s*)?(<!DOCTYPE html\b|<html\b)/i.test(text),
  },
  {
    kind: "calendar or contacts",
    answer: "has appointments or contacts, no history",
    tells: ({ text }) => /^BEGIN:V(CALENDAR|CARD)\b/.test(text),
  },
];

/** JSON from the middle of a file. Only what no format knows is asked: a log may well have JSON in its lines. */
export const FRAGMENT: Telltale = {
  kind: "fragment of JSON",
  answer: "is a fragment; the file was split, so put its parts together and give that",
  tells: isFragment,
};

function isFragment({ text }: Beginning): boolean {
  if (!MEMBER.test(text) || text.startsWith("<")) return false;
  if (!/^[{[]/.test(text)) return true;
  const end = endOfValue(text);
  return end !== null && /^\s*[,:}\]]/.test(text.slice(end, end + BLANKS_MAX));
}

const MEMBER = /"\w+"\s*:\s*["{[\d-]/;
const BLANKS_MAX = 100;

/** Where the first object or list of a text ends; null where it goes on. */
function endOfValue(text: string): number | null {
  let depth = 0;
  // A text that doesn't end takes all that is left, or each quote in it would be looked at as the start of another.
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\[\s\S]?[^"\\]*)*(?:"|$)|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth === 0) return index + token.length;
  }
  return null;
}
