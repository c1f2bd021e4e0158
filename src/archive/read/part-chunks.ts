import { forEachAtOnce } from "../../lib/schedule/for-each-at-once.ts";
import type { Part } from "../manifest.ts";
import { type FileChunks, footerBytes, parseFooter } from "./part-footer.ts";

/** What is known of the column chunks of parts. */
export interface ChunkIndex {
  /** Gets to know parts; those that are known already cost nothing. Rejects where one can't be read. */
  learn(parts: readonly Part[]): Promise<void>;
  /** How many parts are known. */
  readonly count: number;
  /** What is known of these parts; those that nothing is known of are left out. */
  findAll(parts: readonly Part[]): FileChunks[];
}

/** Bytes of a part from one place to another. */
export type ReadRange = (part: Part, start: number, end: number) => Promise<Uint8Array>;

/** About 350 bytes each. A year of 10 M records a day has 180,000. */
const ROW_GROUPS_MAX = 200_000;

/** Parts whose footers are read side by side. */
const AT_ONCE_MAX = 4;

/** As much as most footers take: those of 20 row groups. */
const FOOTER_BYTES = 65_536;

export function createChunkIndex(readRange: ReadRange): ChunkIndex {
  const known = new Map<string, FileChunks>(); // The part that was asked for longest ago comes first.
  const learning = new Map<string, Promise<void>>();
  let rowGroups = 0;

  function put(file: string, chunks: FileChunks): void {
    known.set(file, chunks);
    rowGroups += chunks.rowGroups.length;
    for (const [oldest, { rowGroups: gone }] of known) {
      if (rowGroups <= ROW_GROUPS_MAX || oldest === file) return;
      known.delete(oldest);
      rowGroups -= gone.length;
    }
  }

  function find({ file }: Part): FileChunks | null {
    const chunks = known.get(file);
    if (chunks === undefined) return null;
    known.delete(file);
    known.set(file, chunks);
    return chunks;
  }

  async function read(part: Part): Promise<void> {
    try {
      put(part.file, await readChunks(part, readRange));
    } finally {
      learning.delete(part.file);
    }
  }

  function learnOne(part: Part): Promise<void> {
    if (known.has(part.file)) return Promise.resolve();
    const learned = learning.get(part.file) ?? read(part);
    learning.set(part.file, learned);
    return learned;
  }

  return {
    async learn(parts) {
      const unknown = parts.filter(({ file }) => !known.has(file));
      if (unknown.length > 0) await forEachAtOnce(unknown, AT_ONCE_MAX, learnOne);
    },
    get count() {
      return known.size;
    },
    findAll: (parts) => parts.map(find).filter((chunks) => chunks !== null),
  };
}

async function readChunks(part: Part, readRange: ReadRange): Promise<FileChunks> {
  const end = await readRange(part, Math.max(0, part.bytes - FOOTER_BYTES), part.bytes);
  const bytes = footerBytes(end);
  const footer =
    bytes <= end.length ? end.subarray(-bytes) : await readRange(part, part.bytes - bytes, part.bytes);
  return parseFooter(footer);
}
