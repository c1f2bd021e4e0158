/** One queue per key. The queues take turns, so a key with many items delays only its own items. */
export class FairQueue<Key, Item> {
  /** The queue whose turn is next comes first; none is empty. */
  readonly #lines = new Map<Key, Set<Item>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  countOf(key: Key): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /** Appends an item, which must not be in a queue, to the key's queue. */
  add(key: Key, item: Item): void {
    const line = this.#lines.get(key);
    if (line === undefined) this.#lines.set(key, new Set([item]));
    else line.add(item);
    this.#size++;
  }

  /** Removes an item from the key's queue, at any position. */
  delete(key: Key, item: Item): void {
    const line = this.#lines.get(key);
    if (line?.delete(item) !== true) return;
    this.#size--;
    if (line.size === 0) this.#lines.delete(key);
  }

  /** Removes and returns the first item of the first queue that `mayTake` accepts. That queue then comes last. */
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

  /** Removes and returns the first item of the key's queue, out of turn; null if it is empty. */
  takeOf(key: Key): Item | null {
    const line = this.#lines.get(key);
    if (line === undefined) return null;
    const [item] = line as Set<Item> & Iterable<Item>;
    this.delete(key, item!);
    return item!;
  }

  /** The last item of the longest queue; null if nothing waits. */
  lastOfLongest(): readonly [Key, Item] | null {
    let longest: readonly [Key, Set<Item>] | null = null;
    for (const line of this.#lines) if (longest === null || line[1].size > longest[1].size) longest = line;
    return longest === null ? null : [longest[0], [...longest[1]].at(-1)!];
  }
}
