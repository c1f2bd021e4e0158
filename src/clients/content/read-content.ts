import type { Steps } from "../../lib/schedule/steps.ts";
import { COMMA, OPEN_BRACE, OPEN_BRACKET } from "../../lib/text/ascii.ts";
import { PIECE_BYTES_MAX, parseJson } from "../../lib/text/long-json.ts";
import { afterMark, decodeUtf8, skipWhite, walkUtf8 } from "../../lib/text/long-text.ts";
import type { Content } from "../content.ts";
import { findLongValue } from "../read-content.ts";

/**
 * Batches of clients, up to the largest that any of them sends, are parsed at once too where they have no more values
 * in them than honest ones: 2 ms for 1,000 points, and 15 for the worst that is within these bounds.
 */
const PLAIN = { bytesMax: 1024 * 1024, opensMax: 8 * 1024, commasMax: 32 * 1024 };

const EMPTY: Content = { kind: "empty" };
const UNREADABLE: Content = { kind: "unreadable" };

/**
 * What a body holds, whatever brought it; in steps of some milliseconds. What it returns may read the body further as
 * it is looked into, so the body must stay as it is.
 */
export function* readContent(body: Uint8Array): Steps<Content> {
  if (body.length <= PIECE_BYTES_MAX) return readShort(body);
  const start = yield* skipWhite(body, afterMark(body, 0));
  if (start === body.length) return EMPTY;
  if (body[start] !== OPEN_BRACE && body[start] !== OPEN_BRACKET) return UNREADABLE;
  if (isPlain(body)) return readShort(body);
  const whole = { start, end: body.length };
  if (!(yield* walkUtf8(body, whole))) return UNREADABLE;
  const make = yield* findLongValue(body, whole);
  return make === null ? UNREADABLE : { kind: "json", value: make() };
}

function readShort(body: Uint8Array): Content {
  const text = decodeUtf8(body);
  if (text === null) return UNREADABLE;
  const begin = text.trimStart();
  if (begin === "") return EMPTY;
  if (!begin.startsWith("{") && !begin.startsWith("[")) return { kind: "text", text };
  const value = parseJson(text);
  return value === undefined ? UNREADABLE : { kind: "json", value };
}

/** Whether parsing it takes the engines no longer than other steps do: that goes by values rather than bytes. */
function isPlain(body: Uint8Array): boolean {
  if (body.length > PLAIN.bytesMax) return false;
  let opens = 0;
  let commas = 0;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!;
    if (byte === COMMA) commas++;
    else if ((byte & ~BRACE_BIT) === OPEN_BRACKET) opens++;
  }
  return opens <= PLAIN.opensMax && commas <= PLAIN.commasMax;
}

/** The bit that tells a brace from a bracket. */
const BRACE_BIT = OPEN_BRACE ^ OPEN_BRACKET;
