import { assert } from "../../../src/lib/assert.ts";

const BEGIN = "<!-- Written by bench/tools/write-security.ts. -->\n";
const END = "<!-- End. -->\n";

/** The part of SECURITY.md that a program writes. */
export const SECTION = {
  read(document: string): string {
    return document.slice(...placeOf(document));
  },
  replace(document: string, text: string): string {
    const [start, end] = placeOf(document);
    return document.slice(0, start) + text + document.slice(end);
  },
};

function placeOf(document: string): [start: number, end: number] {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END, begin);
  assert(begin >= 0 && end >= 0, "the document has a place for the table");
  return [begin + BEGIN.length, end];
}
