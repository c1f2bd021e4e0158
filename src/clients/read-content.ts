import type { Steps } from "../lib/schedule/steps.ts";
import { COMMA, OPEN_BRACE, OPEN_BRACKET } from "../lib/text/ascii.ts";
import {
  type JsonKind,
  kindAt,
  PIECE_BYTES_MAX,
  parseJson,
  valueAt,
  walkElements,
  walkMembers,
} from "../lib/text/long-json.ts";
import { afterMark, type ByteRange, decodeUtf8, skipWhite, walkUtf8 } from "../lib/text/long-text.ts";
import { type Content, LongList, LongText } from "./content.ts";

/**
 * Batches up to the largest that any client sends are parsed at once too, if they have no more values than honest ones:
 * 2 ms for 1,000 points, and 15 ms for the worst body within these bounds.
 */
const PLAIN = { bytesMax: 1024 * 1024, opensMax: 8 * 1024, commasMax: 32 * 1024 };

const EMPTY: Content = { kind: "empty" };
const UNREADABLE: Content = { kind: "unreadable" };

/** Reads a body in steps of some milliseconds. The result may read the body later, so it must not change. */
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

/** Whether parsing takes no longer than other steps. The number of values decides, rather than bytes. */
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

/*
 * A long JSON text is not parsed at once. Its outline is found in steps, and each part is parsed when the client's
 * reader accesses it. So memory has only the bytes of the whole message, and little is created between two steps.
 */

/** Creates a value of the text; each call creates a new one. */
type Make = () => unknown;

/** Elements of all lists of a body. The largest batch of any client has 1,000 points. */
const ELEMENTS_MAX = 10_000;

/**
 * The most that is parsed at once: 0.4 ms for nothing but brackets, and readers parse some dozens of them between two
 * steps. A point has some 600 bytes.
 */
const SHORT_BYTES_MAX = 4 * 1024;

/** The most that is parsed of a longer element, or of the members around the lists, all together. */
const PARSED_BYTES_MAX = 2 * SHORT_BYTES_MAX;

/** The deepest nesting of long values that a client sends: `{"locations":[{"properties":{...}}]}`. */
const DEPTH_MAX = 4;

/** No client has longer names, nor half as many members in an object. */
const NAME_LENGTH_MAX = 64;
const MEMBERS_MAX = 256;

/** Replacements for long values that no client reads. */
const EMPTY_VALUES: Readonly<Record<JsonKind, Make>> = {
  object: () => ({}),
  array: () => [],
  string: () => "",
  other: () => Number.NaN,
};

/** Null if the text is not JSON, or if its lists have too many elements. */
function* findLongValue(body: Uint8Array, range: ByteRange): Steps<Make | null> {
  const { fault } = yield* walkMembers(body, range, { nameLengthMax: 0, has: () => false });
  if (fault !== null) return null;
  const outline = new Outline(body);
  const make = yield* outline.find(range, 0, { bytesLeft: PARSED_BYTES_MAX });
  return outline.isTooLong ? null : make;
}

/** How much of a long value may still be parsed. */
interface Allowance {
  bytesLeft: number;
}

class Outline {
  readonly #body: Uint8Array;
  #elementsLeft = ELEMENTS_MAX;
  #isInList = false;
  isTooLong = false;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  /** Finds out how to create the value in a range, which is valid JSON. */
  *find(range: ByteRange, depth: number, allowance: Allowance): Steps<Make> {
    const kind = kindAt(this.#body, range);
    const byteCount = range.end - range.start;
    if (byteCount <= Math.min(SHORT_BYTES_MAX, allowance.bytesLeft)) {
      allowance.bytesLeft -= byteCount;
      return () => valueAt(this.#body, range);
    }
    if (byteCount <= SHORT_BYTES_MAX || depth === DEPTH_MAX) return EMPTY_VALUES[kind];
    if (kind === "string") return () => new LongText(this.#body.subarray(range.start + 1, range.end - 1));
    if (kind === "object") return yield* this.#findMembers(range, depth, allowance);
    // Readers yield between the elements of a list, and not between those of a list inside it.
    if (kind === "array" && !this.#isInList) return yield* this.#findElements(range, depth);
    return EMPTY_VALUES[kind];
  }

  *#findMembers(range: ByteRange, depth: number, allowance: Allowance): Steps<Make> {
    const names = new Set<string>();
    const has = (name: string) => (names.size < MEMBERS_MAX ? names.add(name).has(name) : names.has(name));
    const { ranges } = yield* walkMembers(this.#body, range, { nameLengthMax: NAME_LENGTH_MAX, has });
    const members: [string, Make][] = [];
    for (const [name, member] of ranges) {
      members.push([name, yield* this.find(member, depth + 1, allowance)]);
    }
    yield;
    return () => Object.fromEntries(members.map(([name, make]) => [name, make()]));
  }

  *#findElements(range: ByteRange, depth: number): Steps<Make> {
    const ranges = yield* walkElements(this.#body, range, this.#elementsLeft);
    if (ranges === null) {
      this.isTooLong = true;
      return EMPTY_VALUES.array;
    }
    this.#elementsLeft -= ranges.length;
    const long = new Map<number, Make>();
    this.#isInList = true;
    for (const [index, element] of ranges.entries()) {
      if (element.end - element.start <= SHORT_BYTES_MAX) continue;
      long.set(index, yield* this.find(element, depth + 1, { bytesLeft: PARSED_BYTES_MAX }));
    }
    this.#isInList = false;
    const body = this.#body;
    return () => new LongList(ranges.length, (index) => long.get(index)?.() ?? valueAt(body, ranges[index]!));
  }
}
