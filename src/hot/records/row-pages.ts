import { CHUNK_ROWS_MAX, type Chunk, createChunk } from "./chunk.ts";

/** A device with more rows has chunks of its own. */
export const BLOCK_ROWS_MAX = CHUNK_ROWS_MAX;
/** Block sizes in rows: fine steps where most devices are, so that little is unused; coarse ones save moving rows. */
const BLOCK_ROWS = [1, 2, 3, 4, 6, 8, 12, 16, 32, BLOCK_ROWS_MAX];
/** The index of the smallest sufficient block size, by the number of rows needed. */
const SIZE_OF = Uint8Array.from({ length: BLOCK_ROWS_MAX + 1 }, (_, rows) =>
  BLOCK_ROWS.findIndex((capacity) => capacity >= rows),
);

// A block's address is the number of its page and its first row there.
const ROW_BITS = 8;
const PAGE_ROWS = 1 << ROW_BITS;
const ROW_MASK = PAGE_ROWS - 1;

/** A chunk that is divided into blocks of `blockRows` rows, each of one device. */
interface RowPage {
  readonly chunk: Chunk;
  readonly blockRows: number;
  readonly number: number;
  /** Pages of this kind with a free block. */
  readonly withRoom: RowPage[];
  /** Rows from this one on were never used. */
  begun: number;
  /** First rows of released blocks. */
  readonly free: number[];
  blocksInUse: number;
}

/**
 * Allocates blocks of rows from pages that many devices share, for devices with few rows: a chunk per device would cost
 * several times its few records, and millions of objects for the garbage collector. An empty page is freed.
 */
export class RowPages {
  readonly #pages: (RowPage | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  /** By mask and block size. */
  readonly #withRoom: (RowPage[] | undefined)[] = [];

  /** The address of a new block with cells for `mask` and at least `rows` rows. */
  take(mask: number, rows: number): number {
    const size = SIZE_OF[rows]!;
    const kind = mask * BLOCK_ROWS.length + size;
    this.#withRoom[kind] ??= [];
    const withRoom = this.#withRoom[kind];
    const page = withRoom.at(-1) ?? this.#addPage(mask, BLOCK_ROWS[size]!, withRoom);
    page.blocksInUse++;
    let row = page.free.pop();
    if (row === undefined) {
      row = page.begun;
      page.begun += page.blockRows;
    }
    if (isFull(page)) withRoom.pop();
    return ((page.number << ROW_BITS) | row) >>> 0;
  }

  release(address: number): void {
    const page = this.#pageOf(address);
    if (isFull(page)) page.withRoom.push(page);
    page.free.push(address & ROW_MASK);
    if (--page.blocksInUse > 0) return;
    page.withRoom.splice(page.withRoom.indexOf(page), 1);
    this.#pages[page.number] = undefined;
    this.#freeNumbers.push(page.number);
  }

  /** The chunk that contains the block, among blocks of other devices. */
  chunkAt(address: number): Chunk {
    return this.#pageOf(address).chunk;
  }

  /** How many rows the block has. */
  roomAt(address: number): number {
    return this.#pageOf(address).blockRows;
  }

  /** Pages in use. */
  get pageCount(): number {
    return this.#pages.length - this.#freeNumbers.length;
  }

  #pageOf(address: number): RowPage {
    return this.#pages[address >>> ROW_BITS]!;
  }

  #addPage(mask: number, blockRows: number, withRoom: RowPage[]): RowPage {
    const page: RowPage = {
      chunk: createChunk(PAGE_ROWS, mask),
      blockRows,
      number: this.#freeNumbers.pop() ?? this.#pages.length,
      withRoom,
      begun: 0,
      free: [],
      blocksInUse: 0,
    };
    this.#pages[page.number] = page;
    withRoom.push(page);
    return page;
  }
}

/** The first row of a block in its page's chunk. */
export function firstRowAt(address: number): number {
  return address & ROW_MASK;
}

function isFull({ begun, blockRows, free }: RowPage): boolean {
  return begun + blockRows > PAGE_ROWS && free.length === 0;
}
