import { mergedRows } from "./merge-rows.ts";

/** Numbers within names count as numbers: `bus 9` before `bus 10`. To make a collator takes longer than to use it. */
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Which name comes where among all. To compare names takes long, and they stay: new ones alone are compared. */
export class NameOrder {
  #sorted = new Uint32Array(0);
  #ranks = new Uint32Array(0);

  /** The rank of each name. Names are those of before, and maybe more. */
  ranksOf(names: readonly string[]): Uint32Array {
    const known = this.#sorted.length;
    if (names.length === known) return this.#ranks;
    const compare = (rowA: number, rowB: number) =>
      COLLATOR.compare(names[rowA]!, names[rowB]!) || rowA - rowB;
    const added = Array.from({ length: names.length - known }, (_, index) => known + index).sort(compare);
    this.#sorted = mergedRows(this.#sorted, added, compare);
    this.#ranks = new Uint32Array(names.length);
    for (const [rank, row] of this.#sorted.entries()) this.#ranks[row] = rank;
    return this.#ranks;
  }

  clear(): void {
    this.#sorted = new Uint32Array(0);
    this.#ranks = new Uint32Array(0);
  }
}
