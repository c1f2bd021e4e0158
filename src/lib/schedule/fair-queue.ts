/** A line for each key. Lines take turns, so a key with many items delays its own items and not those of others. */
export class FairQueue<Key, Item> {
  /** The line whose turn it is comes first; none is empty. */
  readonly #lines = new Map<Key, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf(key: Key): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /** Puts an item that is in no line at the end of the key's. */
  add(key: Key, item: Item): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, new Set([item]));
    else line.add(item);
    this.#size++;
  }

  /** Takes an item out of the key's line, wherever it stands. */
  delete(key: Key, item: Item): void {
    const line = this.#lines.get(key);
    if (line?.delete(item) !== true) return;
    this.#size--;
    if (line.size === 0) this.#lines.delete(key);
  }

  /** Takes the first item of the first line that may have its turn; that line comes last from now on. */
  take(mayTake: (key: Key, item: Item) => boolean = () => true): readonly [Key, Item] | null {
    for (const [key, line] of this.#lines) {
      const [item] = line as Set<Item> & Iterable<Item>;
      if (!mayTake(key, item!)) continue;
      this.delete(key, item!);
      if (this.#lines.delete(key)) this.#lines.set(key, line);
      return [key, item!];
    }
    return null;
  }

  /** Takes the first item of the key's line, even if it is another line's turn; null if nothing waits there. */
  takeOf(key: Key): Item | null {
    const line = this.#lines.get(key);
    if (line === undefined) return null;
    const [item] = line as Set<Item> & Iterable<Item>;
    this.delete(key, item!);
    return item!;
  }

  /** The last item of the longest line; null if nothing waits. */
  lastOfLongest(): readonly [Key, Item] | null {
    let longest: readonly [Key, Set<Item>] | null = null;
    for (const line of this.#lines) if (longest === null || line[1].size > longest[1].size) longest = line;
    return longest === null ? null : [longest[0], [...longest[1]].at(-1)!];
  }
}
