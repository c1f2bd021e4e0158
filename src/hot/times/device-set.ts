/** Devices per page, which takes 512 bytes. */
const PAGE_DEVICES_LOG2 = 12;
const PAGE_WORDS = 2 ** PAGE_DEVICES_LOG2 / 32;

/** A set of device numbers, one bit each. Empty pages take no memory, since a day may have few of many devices. */
export class DeviceSet {
  #size = 0;
  readonly #pages: (Uint32Array | undefined)[] = [];

  get size(): number {
    return this.#size;
  }

  has(device: number): boolean {
    const page = this.#pages[device >>> PAGE_DEVICES_LOG2];
    return page !== undefined && (page[wordOf(device)]! & (1 << (device & 31))) !== 0;
  }

  add(device: number): void {
    const page = this.#page(device >>> PAGE_DEVICES_LOG2);
    const word = wordOf(device);
    const bit = 1 << (device & 31);
    if ((page[word]! & bit) !== 0) return;
    page[word]! |= bit;
    this.#size++;
  }

  addAll(others: DeviceSet): void {
    others.#pages.forEach((theirs, index) => {
      if (theirs === undefined) return;
      const ours = this.#page(index);
      for (let word = 0; word < PAGE_WORDS; word++) {
        const more = theirs[word]! & ~ours[word]!;
        if (more === 0) continue;
        ours[word]! |= more;
        this.#size += countBits(more);
      }
    });
  }

  #page(index: number): Uint32Array {
    let page = this.#pages[index];
    if (page === undefined) {
      while (this.#pages.length < index) this.#pages.push(undefined); // An array with holes is slower.
      page = new Uint32Array(PAGE_WORDS);
      this.#pages[index] = page;
    }
    return page;
  }
}

function wordOf(device: number): number {
  return (device >>> 5) & (PAGE_WORDS - 1);
}

/** The number of bits set in 32: sums of pairs, fours and eights of bits are computed side by side. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
