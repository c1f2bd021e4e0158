import { mergedRows } from "./merge-rows.ts";
import { roughlySorted } from "./rough-order.ts";

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
    // To sort what is nearly in order asks the collator once for each name; 200,000 in any order, seventeen times.
    const added = roughlySorted(names, known).sort(compare);
    this.#sorted = mergedRows(this.#sorted, added, compare);
    this.#ranks = new Uint32Array(names.length);
    for (let rank = 0; rank < names.length; rank++) this.#ranks[this.#sorted[rank]!] = rank;
    return this.#ranks;
  }

  clear(): void {
    this.#sorted = new Uint32Array(0);
    this.#ranks = new Uint32Array(0);
  }
}
