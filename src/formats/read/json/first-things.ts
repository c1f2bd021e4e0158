import { isMembers, type Members } from "../../../clients/reading/values.ts";
import type { Beginning } from "../format.ts";
import { FormatError } from "../format-error.ts";
import { JsonCutter } from "./json-cutter.ts";

/** Enough that one of them has what all usually have. */
const THINGS_MAX = 8;

/**
 * The first objects in a list that a file begins with: in the list of that name in its outermost object, or null for
 * the file being the list. None where the file is something else, or the first doesn't end within the beginning.
 */
export function firstThings(beginning: Beginning, list: string | null): readonly Members[] {
  const things: Members[] = [];
  const start = beginning.text[0];
  if (start !== (list === null ? "[" : "{")) return things;
  if (list !== null && !beginning.text.includes(`"${list}"`)) return things;
  const cutter = new JsonCutter(list === null ? { isList: true } : { lists: [list] });
  cutter.push(new TextEncoder().encode(beginning.text));
  try {
    while (things.length < THINGS_MAX) {
      const cut = cutter.next();
      if (cut === null) break;
      if (isMembers(cut.value)) things.push(cut.value);
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
  }
  return things;
}

/** Whether one of the objects has one of the members. */
export function haveAny(things: readonly Members[], names: readonly string[]): boolean {
  return things.some((thing) => names.some((name) => Object.hasOwn(thing, name)));
}
