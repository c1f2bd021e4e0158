import { Compression, type Entry, type Header, type Source } from "pmtiles";
import { messageOf } from "../../lib/message-of.ts";
import { type Bounds, readMetadata } from "../tile-file.ts";
import { DirectoryCache } from "../tile-source.ts";
import { type ArchiveEntries, archiveHead } from "./archive-head.ts";
import { REQUEST_BYTES_MAX, REQUESTS_AT_ONCE, RemoteArchiveError } from "./remote-archive.ts";
import { type IdRange, RangeCursor, tileRanges } from "./tile-ranges.ts";

/*
 * What to copy of a remote archive, and the archive that results. Tile contents keep the order in which tiles first
 * refer to them, so the new archive is written from its start to its end.
 */

export interface Area {
  readonly bounds: Bounds;
  /** Null for all zooms of the archive. */
  readonly maxZoom: number | null;
}

export interface CopyPlan {
  /** All of the new archive before its tiles. */
  readonly head: Uint8Array;
  readonly requests: readonly PlannedRequest[];
  readonly tiles: number;
  readonly zooms: readonly [min: number, max: number];
  /** The size of the new archive. */
  readonly archiveBytes: number;
  /** What the requests transfer. */
  readonly requestBytes: number;
}

/** A range of the source with its pieces that the new archive gets, one after the other. */
export interface PlannedRequest {
  /** In the source. */
  readonly offset: number;
  readonly length: number;
  /** Where the pieces begin in the new archive, counted from its first tile. */
  readonly target: number;
  /** Start and length of each piece in the range. */
  readonly pieces: readonly (readonly [start: number, length: number])[];
}

/** About 100 bytes of memory each. All of Great Britain at street level has about 600,000. */
const ENTRIES_MAX = 2_000_000;
/** All directories of a planet have about 100 MB. */
const DIRECTORY_BYTES_MAX = 256 * 1024 * 1024;
/** Leaves of leaves; archives in use have one level of them. */
const DEPTH_MAX = 3;
/** A gap that is cheaper to transfer than another request. */
const GAP_BYTES_MAX = 16 * 1024;

export interface PlanParts {
  readonly source: Source;
  readonly header: Header;
  readonly pack: (bytes: Uint8Array) => Uint8Array;
  onDirectory?(): void;
}

/** Reads the directories that the area needs. Rejects with a `RemoteArchiveError` that says what is wrong. */
export async function planCopy(area: Area, parts: PlanParts): Promise<CopyPlan> {
  const { source, header, pack } = parts;
  const refuse = (fault: string) => new RemoteArchiveError(`Cannot copy from ${source.getKey()}: ${fault}.`);
  const bounds = overlapOf(area.bounds, header);
  if (bounds === null) throw refuse("the archive does not cover that area");
  const maxZoom = Math.min(area.maxZoom ?? header.maxZoom, header.maxZoom);
  if (maxZoom < header.minZoom) throw refuse(`its zooms begin at ${header.minZoom}`);
  const ranges = tileRanges(bounds, header.minZoom, maxZoom);
  if (ranges === null) throw refuse(TOO_LARGE);
  const metadata = await readMetadata(source.getKey(), source, header);
  const tiles = new TilePlan(header, refuse);
  await readDirectories(ranges, parts, tiles, refuse);
  if (tiles.count === 0) throw refuse("it has no tile of that area");
  const head = archiveHead({
    entries: tiles.entries,
    metadata: new TextEncoder().encode(JSON.stringify(metadata)),
    dataBytes: tiles.dataBytes,
    contents: tiles.contents,
    tileCompression: header.tileCompression === Compression.None ? Compression.None : Compression.Gzip,
    zooms: [header.minZoom, maxZoom],
    bounds,
    pack,
  });
  return {
    head,
    requests: tiles.requests,
    tiles: tiles.count,
    zooms: [header.minZoom, maxZoom],
    archiveBytes: head.length + tiles.dataBytes,
    requestBytes: tiles.requests.reduce((sum, { length }) => sum + length, 0),
  };
}

const TOO_LARGE = "the area has too many tiles; choose a smaller area or a lower --max-zoom";

function overlapOf(
  [west, south, east, north]: Bounds,
  { minLon, minLat, maxLon, maxLat }: Header,
): Bounds | null {
  const overlap = [
    Math.max(west, minLon),
    Math.max(south, minLat),
    Math.min(east, maxLon),
    Math.min(north, maxLat),
  ] as const;
  return overlap[0] < overlap[2] && overlap[1] < overlap[3] ? overlap : null;
}

/** The tiles to copy, added by ascending number. */
class TilePlan {
  readonly entries = {
    tileIds: [] as number[],
    runLengths: [] as number[],
    offsets: [] as number[],
    lengths: [] as number[],
  } satisfies ArchiveEntries;
  readonly requests: { offset: number; length: number; target: number; pieces: [number, number][] }[] = [];
  readonly #header: Header;
  readonly #refuse: (fault: string) => Error;
  /** By its offset in the source, the first entry with a content. */
  readonly #firstEntries = new Map<number, number>();
  dataBytes = 0;
  count = 0;

  constructor(header: Header, refuse: (fault: string) => Error) {
    this.#header = header;
    this.#refuse = refuse;
  }

  get contents(): number {
    return this.#firstEntries.size;
  }

  add({ start, end }: IdRange, { offset, length }: Entry): void {
    const { tileDataOffset, tileDataLength = 0 } = this.#header;
    if (!(length > 0 && length <= REQUEST_BYTES_MAX && offset >= 0 && offset + length <= tileDataLength))
      throw this.#refuse(`tile ${start} has ${length} bytes at ${offset}, which can't be`);
    const { tileIds, runLengths, offsets, lengths } = this.entries;
    if (tileIds.length === ENTRIES_MAX) throw this.#refuse(TOO_LARGE);
    const first = this.#firstEntries.get(offset);
    if (first !== undefined && lengths[first] !== length)
      throw this.#refuse(`tile ${start} shares only a part of another tile`);
    const target = first === undefined ? this.dataBytes : offsets[first]!;
    if (first === undefined) {
      this.#firstEntries.set(offset, tileIds.length);
      this.#request(tileDataOffset + offset, length, target);
      this.dataBytes += length;
    }
    tileIds.push(start);
    runLengths.push(end - start);
    offsets.push(target);
    lengths.push(length);
    this.count += end - start;
  }

  /** Joins the last request if the content is just behind it. */
  #request(offset: number, length: number, target: number): void {
    const last = this.requests.at(-1);
    if (last !== undefined) {
      const gap = offset - (last.offset + last.length);
      const joinedLength = offset + length - last.offset;
      if (gap >= 0 && gap <= GAP_BYTES_MAX && joinedLength <= REQUEST_BYTES_MAX) {
        last.pieces.push([offset - last.offset, length]);
        last.length = joinedLength;
        return;
      }
    }
    this.requests.push({ offset, length, target, pieces: [[0, length]] });
  }
}

async function readDirectories(
  ranges: readonly IdRange[],
  { source, header, onDirectory }: PlanParts,
  tiles: TilePlan,
  refuse: (fault: string) => Error,
): Promise<void> {
  const cache = new DirectoryCache(header);
  const wantedTiles = new RangeCursor(ranges);
  const wantedLeaves = Array.from({ length: DEPTH_MAX }, () => new RangeCursor(ranges));
  let nextId = 0;
  let directoryBytes = 0;

  async function entriesAt(offset: number, length: number): Promise<Entry[]> {
    try {
      return await cache.getDirectory(source, offset, length, header);
    } catch (error) {
      if (error instanceof RemoteArchiveError || isAbort(error)) throw error;
      throw refuse(`a directory is damaged (${messageOf(error)})`);
    }
  }

  /** Where each entry's tiles end. */
  function checkedEnds(entries: readonly Entry[], end: number): number[] {
    return entries.map(({ tileId, runLength }, index) => {
      const next = entries[index + 1]?.tileId ?? end;
      const last = runLength === 0 ? next : tileId + runLength;
      if (!(tileId >= nextId && last > tileId && last <= next))
        throw refuse("its directories are not in order");
      nextId = tileId;
      return last;
    });
  }

  async function read(entries: readonly Entry[], end: number, depth: number): Promise<void> {
    const ends = checkedEnds(entries, end);
    const leaves: Leaf[] = [];
    const cursor = wantedLeaves[depth]!;
    for (const [index, { tileId, runLength, offset, length }] of entries.entries()) {
      if (runLength > 0 || cursor.within({ start: tileId, end: ends[index]! }).next().done) continue;
      leaves.push({ index, offset: header.leafDirectoryOffset + offset, length });
      directoryBytes += length;
    }
    if (leaves.length > 0 && depth + 1 === DEPTH_MAX) throw refuse("its directories are nested too deeply");
    if (directoryBytes > DIRECTORY_BYTES_MAX) throw refuse("its directories are larger than a planet's");

    let [nextLeaf, leavesBegun] = [0, 0];
    for (const [index, entry] of entries.entries()) {
      if (entry.runLength > 0)
        for (const range of wantedTiles.within({ start: entry.tileId, end: ends[index]! }))
          tiles.add(range, entry);
      const leaf = leaves[nextLeaf];
      if (leaf?.index !== index) continue;
      nextLeaf++;
      // The cache shares these reads with the ones that await them, and those report failures.
      for (; leavesBegun < Math.min(leaves.length, nextLeaf + REQUESTS_AT_ONCE - 1); leavesBegun++)
        entriesAt(leaves[leavesBegun]!.offset, leaves[leavesBegun]!.length).catch(() => undefined);
      const leafEntries = await entriesAt(leaf.offset, leaf.length);
      onDirectory?.();
      nextId = entry.tileId;
      await read(leafEntries, ends[index]!, depth + 1);
    }
  }

  const root = await entriesAt(header.rootDirectoryOffset, header.rootDirectoryLength);
  await read(root, Number.MAX_SAFE_INTEGER, 0);
}

/** A directory that an entry leads to. */
interface Leaf {
  readonly index: number;
  readonly offset: number;
  readonly length: number;
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}
