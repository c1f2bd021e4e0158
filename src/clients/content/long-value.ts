import type { Steps } from "../../lib/schedule/steps.ts";
import { type JsonKind, kindAt, valueAt, walkElements, walkMembers } from "../../lib/text/long-json.ts";
import type { Place } from "../../lib/text/long-text.ts";
import { LongList, LongText } from "../content.ts";

/*
 * What a client's reading sees of a JSON text that is too long to be parsed in one piece: the outline of it is found in
 * steps, and each part is made when somebody asks for it. So nothing that a stranger sends is ever in memory as a whole
 * but its bytes, and what is made between two steps of a reading is little.
 */

/** A value of a text, made anew by each call. */
type Make = () => unknown;

/** Elements of all lists of a body. The largest batch of any client has 1,000 points. */
const ELEMENTS_MAX = 10_000;

/**
 * What is parsed in one piece: 0.4 ms where it is nothing but brackets, and a reading has some dozens of them between
 * two steps. A point has some 600 bytes.
 */
const SHORT_BYTES_MAX = 4 * 1024;

/** Of an element, or of what lies around the lists: what is parsed of it if it is longer, all members together. */
const PARSED_BYTES_MAX = 2 * SHORT_BYTES_MAX;

/** The deepest that a client goes, before values are short: `{"locations":[{"properties":{...}}]}`. */
const DEPTH_MAX = 4;

/** No client has a longer name for anything, nor half as many members in an object. */
const NAME_LENGTH_MAX = 64;
const MEMBERS_MAX = 256;

/** Long values that nobody can use. */
const EMPTY: Readonly<Record<JsonKind, Make>> = {
  object: () => ({}),
  array: () => [],
  string: () => "",
  other: () => Number.NaN,
};

/** Null for a text that is no JSON, and for one whose lists have too many elements. */
export function* findLongValue(body: Uint8Array, place: Place): Steps<Make | null> {
  const { fault } = yield* walkMembers(body, place, { nameLengthMax: 0, has: () => false });
  if (fault !== null) return null;
  const outline = new Outline(body);
  const make = yield* outline.find(place, 0, { bytesLeft: PARSED_BYTES_MAX });
  return outline.isTooLong ? null : make;
}

/** What is still parsed of something long. */
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

  /** How the value at a place is made, which is known to be JSON. */
  *find(place: Place, depth: number, allowance: Allowance): Steps<Make> {
    const kind = kindAt(this.#body, place);
    const byteCount = place.end - place.start;
    if (byteCount <= Math.min(SHORT_BYTES_MAX, allowance.bytesLeft)) {
      allowance.bytesLeft -= byteCount;
      return () => valueAt(this.#body, place);
    }
    if (byteCount <= SHORT_BYTES_MAX || depth === DEPTH_MAX) return EMPTY[kind];
    if (kind === "string") return () => new LongText(this.#body.subarray(place.start + 1, place.end - 1));
    if (kind === "object") return yield* this.#findMembers(place, depth, allowance);
    // Readings rest between the elements of a list, and not between those of a list within one.
    if (kind === "array" && !this.#isInList) return yield* this.#findElements(place, depth);
    return EMPTY[kind];
  }

  *#findMembers(place: Place, depth: number, allowance: Allowance): Steps<Make> {
    const names = new Set<string>();
    const has = (name: string) => (names.size < MEMBERS_MAX ? names.add(name).has(name) : names.has(name));
    const { places } = yield* walkMembers(this.#body, place, { nameLengthMax: NAME_LENGTH_MAX, has });
    const members: [string, Make][] = [];
    for (const [name, member] of places) {
      members.push([name, yield* this.find(member, depth + 1, allowance)]);
    }
    yield;
    return () => Object.fromEntries(members.map(([name, make]) => [name, make()]));
  }

  *#findElements(place: Place, depth: number): Steps<Make> {
    const places = yield* walkElements(this.#body, place, this.#elementsLeft);
    if (places === null) {
      this.isTooLong = true;
      return EMPTY.array;
    }
    this.#elementsLeft -= places.length;
    const long = new Map<number, Make>();
    this.#isInList = true;
    for (const [index, element] of places.entries()) {
      if (element.end - element.start <= SHORT_BYTES_MAX) continue;
      long.set(index, yield* this.find(element, depth + 1, { bytesLeft: PARSED_BYTES_MAX }));
    }
    this.#isInList = false;
    const body = this.#body;
    return () => new LongList(places.length, (index) => long.get(index)?.() ?? valueAt(body, places[index]!));
  }
}
