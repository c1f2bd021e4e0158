import { CHUNK_ROWS_MAX, type Chunk, createChunk } from "./chunk.ts";

/** Memory for the rows of devices that have few. */

/** A device with more rows has chunks of its own. */
export const BLOCK_ROWS_MAX = CHUNK_ROWS_MAX;
/** Rows of blocks: where most devices are, little is unused, and beyond that rows are not moved too often. */
const BLOCK_ROWS = [1, 2, 3, 4, 6, 8, 12, 16, 32, BLOCK_ROWS_MAX];
/** By rows that are needed, the first of those that has room. */
const SIZE_OF = Uint8Array.from({ length: BLOCK_ROWS_MAX + 1 }, (_, rows) =>
  BLOCK_ROWS.findIndex((capacity) => capacity >= rows),
);

/** A place is the number of a page and a row of it. */
const ROW_BITS = 8;
const PAGE_ROWS = 1 << ROW_BITS;
const ROW_MASK = PAGE_ROWS - 1;

/** A chunk that is cut into blocks of so many rows; each is one device's. */
interface RowPage {
  readonly chunk: Chunk;
  readonly blockRows: number;
  readonly number: number;
  /** Pages of blocks like these with room for another; this one among them or not. */
  readonly withRoom: RowPage[];
  /** Rows from this one on were never taken. */
  begun: number;
  /** First rows of blocks that were given back. */
  readonly free: number[];
  taken: number;
}

/**
 * Blocks of rows, cut from pages that many devices share: a chunk for each device would cost several times its few
 * records, and have the collector look at millions of objects. A page whose last block is given back is gone.
 */
export class RowPages {
  readonly #pages: (RowPage | undefined)[] = [];
  readonly #freeNumbers: number[] = [];
  /** By mask and size of block. */
  readonly #withRoom: (RowPage[] | undefined)[] = [];

  /** The place of a block of rows with these fields, and with room for so many. */
  take(mask: number, rows: number): number {
    const size = SIZE_OF[rows]!;
    const kind = mask * BLOCK_ROWS.length + size;
    this.#withRoom[kind] ??= [];
    const withRoom = this.#withRoom[kind];
    const page = withRoom.at(-1) ?? this.#addPage(mask, BLOCK_ROWS[size]!, withRoom);
    page.taken++;
    let row = page.free.pop();
    if (row === undefined) {
      row = page.begun;
      page.begun += page.blockRows;
    }
    if (isFull(page)) withRoom.pop();
    return ((page.number << ROW_BITS) | row) >>> 0;
  }

  /** Takes a block back. */
  release(place: number): void {
    const page = this.#pageOf(place);
    if (isFull(page)) page.withRoom.push(page);
    page.free.push(place & ROW_MASK);
    if (--page.taken > 0) return;
    page.withRoom.splice(page.withRoom.indexOf(page), 1);
    this.#pages[page.number] = undefined;
    this.#freeNumbers.push(page.number);
  }

  /** What the rows of a block are in, those of others before and behind them. */
  chunkAt(place: number): Chunk {
    return this.#pageOf(place).chunk;
  }

  /** How many rows the block has room for. */
  roomAt(place: number): number {
    return this.#pageOf(place).blockRows;
  }

  /** Pages that hold any row. */
  get pageCount(): number {
    return this.#pages.length - this.#freeNumbers.length;
  }

  #pageOf(place: number): RowPage {
    return this.#pages[place >>> ROW_BITS]!;
  }

  #addPage(mask: number, blockRows: number, withRoom: RowPage[]): RowPage {
    const page: RowPage = {
      chunk: createChunk(PAGE_ROWS, mask),
      blockRows,
      number: this.#freeNumbers.pop() ?? this.#pages.length,
      withRoom,
      begun: 0,
      free: [],
      taken: 0,
    };
    this.#pages[page.number] = page;
    withRoom.push(page);
    return page;
  }
}

/** The first row of a block, in its page's chunk. */
export function firstRowAt(place: number): number {
  return place & ROW_MASK;
}

function isFull({ begun, blockRows, free }: RowPage): boolean {
  return begun + blockRows > PAGE_ROWS && free.length === 0;
}
