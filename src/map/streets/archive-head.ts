import { Compression, TileType } from "pmtiles";
import type { Bounds } from "../tile-file.ts";

/*
 * What precedes the tiles in a PMTiles archive, version 3: 127 bytes of header, the root directory, metadata, and leaf
 * directories if the root can't hold all entries. https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
 *
 *   | header | root | metadata | leaves | tiles in the order of their numbers |
 */

/** The entries of the directories by tile number, in columns. Offsets count from the first tile. */
export interface ArchiveEntries {
  readonly tileIds: readonly number[];
  /** How many tiles in a row have the same content. */
  readonly runLengths: readonly number[];
  readonly offsets: readonly number[];
  readonly lengths: readonly number[];
}

export interface ArchiveFacts {
  readonly entries: ArchiveEntries;
  /** JSON, not compressed. */
  readonly metadata: Uint8Array;
  /** The size of all tiles together. */
  readonly dataBytes: number;
  /** How many different contents the tiles have. */
  readonly contents: number;
  readonly tileCompression: Compression;
  readonly zooms: readonly [min: number, max: number];
  readonly bounds: Bounds;
  /** Compresses with gzip. */
  readonly pack: (bytes: Uint8Array) => Uint8Array;
}

const HEADER_BYTES = 127;
/** The first bytes that a reader fetches must hold the root directory. */
const ROOT_BYTES_MAX = 16_384 - HEADER_BYTES;
/** A leaf of this size has about 10 kB. */
const LEAF_ENTRIES = 4096;
/** More never fit into a root directory. */
const ROOT_ENTRIES_MAX = 16_384;
const VERSION = 3;

export function archiveHead(facts: ArchiveFacts): Uint8Array<ArrayBuffer> {
  const { entries, metadata, pack } = facts;
  const { root, leaves } = layOutDirectories(entries, pack);
  const json = pack(metadata);
  const header = headerOf(facts, { root: root.length, json: json.length, leaves: totalBytes(leaves) });
  return joined([header, root, json, ...leaves]);
}

interface Directories {
  readonly root: Uint8Array;
  readonly leaves: readonly Uint8Array[];
}

function layOutDirectories(entries: ArchiveEntries, pack: ArchiveFacts["pack"]): Directories {
  const count = entries.tileIds.length;
  if (count <= ROOT_ENTRIES_MAX) {
    const root = pack(encodeDirectory(entries, 0, count));
    if (root.length <= ROOT_BYTES_MAX) return { root, leaves: [] };
  }
  for (let leafEntries = LEAF_ENTRIES; ; leafEntries *= 2) {
    const directories = withLeaves(entries, leafEntries, pack);
    if (directories.root.length <= ROOT_BYTES_MAX) return directories;
  }
}

function withLeaves(entries: ArchiveEntries, leafEntries: number, pack: ArchiveFacts["pack"]): Directories {
  const root = { tileIds: [], runLengths: [], offsets: [], lengths: [] } as Record<
    keyof ArchiveEntries,
    number[]
  >;
  const leaves: Uint8Array[] = [];
  let offset = 0;
  for (let start = 0; start < entries.tileIds.length; start += leafEntries) {
    const leaf = pack(encodeDirectory(entries, start, Math.min(start + leafEntries, entries.tileIds.length)));
    leaves.push(leaf);
    root.tileIds.push(entries.tileIds[start]!);
    root.runLengths.push(0); // Marks a leaf.
    root.offsets.push(offset);
    root.lengths.push(leaf.length);
    offset += leaf.length;
  }
  return { root: pack(encodeDirectory(root, 0, leaves.length)), leaves };
}

/** The entries from `start` to `end` (excluded): their count, then a column after the other, as varints. */
function encodeDirectory(
  { tileIds, runLengths, lengths, offsets }: ArchiveEntries,
  start: number,
  end: number,
): Uint8Array {
  const bytes: number[] = [];
  const put = (value: number) => {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    bytes.push(rest);
  };
  put(end - start);
  for (let i = start; i < end; i++) put(tileIds[i]! - (i === start ? 0 : tileIds[i - 1]!));
  for (let i = start; i < end; i++) put(runLengths[i]!);
  for (let i = start; i < end; i++) put(lengths[i]!);
  for (let i = start; i < end; i++) {
    const follows = i > start && offsets[i - 1]! + lengths[i - 1]! === offsets[i]!;
    put(follows ? 0 : offsets[i]! + 1);
  }
  return Uint8Array.from(bytes);
}

interface SectionBytes {
  readonly root: number;
  readonly json: number;
  readonly leaves: number;
}

function headerOf(facts: ArchiveFacts, { root, json, leaves }: SectionBytes): Uint8Array {
  const { entries, dataBytes, contents, tileCompression, zooms, bounds } = facts;
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const [jsonAt, leavesAt] = [HEADER_BYTES + root, HEADER_BYTES + root + json];
  const tiles = entries.runLengths.reduce((sum, length) => sum + length, 0);
  const counts = [tiles, entries.tileIds.length, contents];
  const sections = [HEADER_BYTES, root, jsonAt, json, leavesAt, leaves, leavesAt + leaves, dataBytes];
  bytes.set(new TextEncoder().encode("PMTiles"));
  bytes[7] = VERSION;
  for (const [index, value] of [...sections, ...counts].entries())
    view.setBigUint64(8 + index * 8, BigInt(value), true);
  const isClustered = 1; // The tiles are in the order of their numbers.
  bytes.set([isClustered, Compression.Gzip, tileCompression, TileType.Mvt, ...zooms], 96);
  const [west, south, east, north] = bounds;
  for (const [index, degrees] of bounds.entries()) view.setInt32(102 + index * 4, units(degrees), true);
  bytes[118] = zooms[0];
  view.setInt32(119, units((west + east) / 2), true);
  view.setInt32(123, units((south + north) / 2), true);
  return bytes;
}

/** Degrees are integers in the header. */
function units(degrees: number): number {
  return Math.round(degrees * 1e7);
}

function totalBytes(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0);
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(totalBytes(parts));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
