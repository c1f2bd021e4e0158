import { GREATER, QUOTE, SLASH, SPACE } from "../../../lib/text/ascii.ts";

/** Values by name, with prefix. */
export type Attributes = Readonly<Record<string, string | undefined>>;

/** The rest of a start tag, after the name. */
interface TagRest {
  readonly attributes: Attributes;
  /** Whether the tag also ends the element. */
  readonly isEmpty: boolean;
  /** The index after its last character. */
  readonly end: number;
}

/** Most elements have none. */
export const NO_ATTRIBUTES: Attributes = {};

const NO_NAME = /[\s<>"'/]/;

const APOSTROPHE = 0x27;

/** Returns null if the text ends before the tag, "unreadable" if it is not a valid tag. */
export function readTagRest(text: string, from: number): TagRest | null | "unreadable" {
  const attributes: Record<string, string> = Object.create(null);
  let at = afterBlanks(text, from);
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === GREATER) return { attributes, isEmpty: false, end: at + 1 };
    if (unit === SLASH && at + 1 < text.length)
      return text.charCodeAt(at + 1) === GREATER ? { attributes, isEmpty: true, end: at + 2 } : "unreadable";
    const equals = text.indexOf("=", at);
    if (equals < 0) return NO_NAME.test(text.slice(at).trimEnd()) && unit !== SLASH ? "unreadable" : null;
    const name = text.slice(at, equals).trimEnd();
    if (name === "" || NO_NAME.test(name)) return "unreadable";
    const valueStart = afterBlanks(text, equals + 1);
    if (valueStart === text.length) return null;
    const quote = text.charCodeAt(valueStart);
    if (quote !== QUOTE && quote !== APOSTROPHE) return "unreadable";
    const valueEnd = text.indexOf(quote === QUOTE ? '"' : "'", valueStart + 1);
    if (valueEnd < 0) return null;
    attributes[name] ??= withoutReferences(text.slice(valueStart + 1, valueEnd));
    at = afterBlanks(text, valueEnd + 1);
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) <= SPACE) at++;
  return at;
}

/** XML's own entities. Entities declared by a file are never resolved: their references stay as written. */
const PREDEFINED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const REFERENCE = /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g;

/** Resolves character references. */
export function withoutReferences(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(REFERENCE, (reference, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return PREDEFINED[name]!;
    const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
    return isCharacter(code) ? String.fromCodePoint(code) : reference;
  });
}

/** Excludes zero and surrogates. */
function isCharacter(code: number): boolean {
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}
