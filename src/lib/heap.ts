/** A binary heap whose root is the least item by `compare`. */
export interface MinHeap<Item> {
  readonly size: number;
  peek(): Item | undefined;
  push(item: Item): void;
  pop(): Item | undefined;
  /** Restores the order after the root itself has changed: half the work of `pop` and `push`. */
  siftRoot(): void;
}

export function createMinHeap<Item>(compare: (a: Item, b: Item) => number): MinHeap<Item> {
  const items: Item[] = [];

  function siftDown(start: number): void {
    const item = items[start]!;
    let index = start;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && compare(items[child + 1]!, items[child]!) < 0) child++;
      if (compare(items[child]!, item) >= 0) break;
      items[index] = items[child]!;
      index = child;
    }
    items[index] = item;
  }

  return {
    get size() {
      return items.length;
    },
    peek: () => items[0],
    push(item) {
      let index = items.length;
      items.push(item);
      while (index > 0) {
        const parent = (index - 1) >> 1;
        if (compare(items[parent]!, item) <= 0) break;
        items[index] = items[parent]!;
        index = parent;
      }
      items[index] = item;
    },
    pop() {
      const root = items[0];
      const last = items.pop();
      if (items.length > 0) {
        items[0] = last!;
        siftDown(0);
      }
      return root;
    },
    siftRoot: () => siftDown(0),
  };
}
