import { gzipSync } from "fflate";
import { zxyToTileId } from "pmtiles";

/*
 * A PMTiles archive, version 3, of gzipped vector tiles: 127 bytes of header, the root directory, metadata, tiles in
 * the order of their numbers. https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
 *
 * The same tiles are the same bytes on every machine: fflate is JavaScript, where zlib's bytes depend on the processor.
 */

export interface WrittenTile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  /** Not packed yet. */
  readonly bytes: Uint8Array;
}

const HEADER_BYTES = 127;
/** What a reader fetches first must hold the root directory. */
const ROOT_END_MAX = 16_384;
const GZIP = 2;
const MVT = 1;
const WHOLE_WORLD = [-180, -85.0511287, 180, 85.0511287] as const;

interface Entry {
  readonly tileId: number;
  readonly offset: number;
  readonly length: number;
  runLength: number;
}

/** The archive's bytes. */
export function writePmtiles(
  tiles: readonly WrittenTile[],
  metadata: object,
  bounds: readonly [west: number, south: number, east: number, north: number] = WHOLE_WORLD,
): Uint8Array<ArrayBuffer> {
  const { entries, data, contents } = layOut(tiles);
  const root = packed(directory(entries));
  if (HEADER_BYTES + root.length > ROOT_END_MAX) throw new Error("So many tiles need leaf directories");
  const json = packed(new TextEncoder().encode(JSON.stringify(metadata)));
  const zooms = tiles.map(({ z }) => z);
  const header = headerOf({
    rootBytes: root.length,
    metadataBytes: json.length,
    dataBytes: data.reduce((sum, { length }) => sum + length, 0),
    counts: [tiles.length, entries.length, contents],
    zooms: [Math.min(...zooms), Math.max(...zooms)],
    bounds,
  });
  return joined([header, root, json, ...data]);
}

/** Tiles that are the same lie there once; those of a run share an entry. */
function layOut(tiles: readonly WrittenTile[]) {
  const entries: Entry[] = [];
  const data: Uint8Array[] = [];
  const places = new Map<string, { readonly offset: number; readonly length: number }>();
  let offset = 0;
  const byId = tiles.map(({ z, x, y, bytes }) => ({ tileId: zxyToTileId(z, x, y), bytes }));
  for (const { tileId, bytes } of byId.sort((a, b) => a.tileId - b.tileId)) {
    const content = Buffer.from(bytes).toString("latin1");
    let place = places.get(content);
    if (place === undefined) {
      const gzipped = packed(bytes);
      place = { offset, length: gzipped.length };
      places.set(content, place);
      data.push(gzipped);
      offset += gzipped.length;
    }
    const last = entries.at(-1);
    const continues = last?.offset === place.offset && last.tileId + last.runLength === tileId;
    if (continues) last.runLength++;
    else entries.push({ tileId, ...place, runLength: 1 });
  }
  return { entries, data, contents: places.size };
}

function directory(entries: readonly Entry[]): Uint8Array {
  const bytes: number[] = [];
  const put = (value: number) => {
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    bytes.push(rest);
  };
  put(entries.length);
  for (const [index, { tileId }] of entries.entries()) put(tileId - (entries[index - 1]?.tileId ?? 0));
  for (const { runLength } of entries) put(runLength);
  for (const { length } of entries) put(length);
  for (const [index, { offset }] of entries.entries()) {
    const before = entries[index - 1];
    put(before !== undefined && before.offset + before.length === offset ? 0 : offset + 1);
  }
  return Uint8Array.from(bytes);
}

interface HeaderFacts {
  readonly rootBytes: number;
  readonly metadataBytes: number;
  readonly dataBytes: number;
  /** Tiles that have a number, entries, and tiles that lie there. */
  readonly counts: readonly [number, number, number];
  readonly zooms: readonly [number, number];
  readonly bounds: readonly [number, number, number, number];
}

function headerOf({ rootBytes, metadataBytes, dataBytes, counts, zooms, bounds }: HeaderFacts): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  const metadataAt = HEADER_BYTES + rootBytes;
  const dataAt = metadataAt + metadataBytes;
  bytes.set(new TextEncoder().encode("PMTiles"));
  bytes[7] = 3;
  const numbers = [
    HEADER_BYTES,
    rootBytes,
    metadataAt,
    metadataBytes,
    dataAt,
    0,
    dataAt,
    dataBytes,
    ...counts,
  ];
  for (const [index, value] of numbers.entries()) view.setBigUint64(8 + index * 8, BigInt(value), true);
  bytes.set([1, GZIP, GZIP, MVT, ...zooms], 96); // The first says that tiles lie in the order of their numbers.
  for (const [index, degrees] of bounds.entries())
    view.setInt32(102 + index * 4, Math.round(degrees * 1e7), true);
  bytes[118] = zooms[0];
  view.setInt32(119, Math.round(((bounds[0] + bounds[2]) / 2) * 1e7), true);
  view.setInt32(123, Math.round(((bounds[1] + bounds[3]) / 2) * 1e7), true);
  return bytes;
}

function packed(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 9, mtime: 0 });
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
