/** Devices of a page: 512 bytes. */
const PAGE_DEVICES_LOG2 = 12;
const PAGE_WORDS = 2 ** PAGE_DEVICES_LOG2 / 32;

/** A set of device numbers, a bit each. Pages without any take nothing, since a day may be of few of many devices. */
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
      while (this.#pages.length < index) this.#pages.push(undefined); // Holes would make it a slower kind of array.
      page = new Uint32Array(PAGE_WORDS);
      this.#pages[index] = page;
    }
    return page;
  }
}

function wordOf(device: number): number {
  return (device >>> 5) & (PAGE_WORDS - 1);
}

/** Bits that are set in 32: pairs, fours and eights are added up side by side. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
