/* Names by a part of them, whatever their case and accents. */

export const NO_MATCH = 0;
export const WITHIN = 1;
export const AT_START = 2;

const ASCII = /^[\x00-\x7f]*$/;
const MARKS = /\p{M}/gu;

/** Without case and accents. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  return ASCII.test(lower) ? lower : lower.normalize("NFD").replace(MARKS, "");
}

/** Finds names. They are folded once, when somebody begins to search. */
export class NameSearch {
  #folded: string[] = [];
  #sought = "";
  /** Of what was sought last: the list asks for it every second. */
  #matches = new Uint8Array(0);

  /** How each name matches. Names are those of before, and maybe more. */
  search(names: readonly string[], query: string): Uint8Array {
    this.fold(names);
    const sought = folded(query);
    if (sought === this.#sought && this.#matches.length === names.length) return this.#matches;
    const matches = new Uint8Array(names.length);
    for (let row = 0; row < matches.length; row++) {
      const index = this.#folded[row]!.indexOf(sought);
      matches[row] = index < 0 ? NO_MATCH : index === 0 ? AT_START : WITHIN;
    }
    this.#sought = sought;
    this.#matches = matches;
    return matches;
  }

  /** To fold 200,000 names takes a tenth of a second. */
  fold(names: readonly string[]): void {
    for (let row = this.#folded.length; row < names.length; row++) this.#folded.push(folded(names[row]!));
  }

  clear(): void {
    this.#folded = [];
    this.#sought = "";
    this.#matches = new Uint8Array(0);
  }
}
