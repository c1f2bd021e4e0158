import { gzipSync } from "fflate";
import { Compression, zxyToTileId } from "pmtiles";
import { archiveHead, joined } from "../../../src/map/streets/archive-head.ts";

/*
 * A PMTiles archive of gzipped vector tiles in memory. The same tiles are the same bytes on every machine: fflate is
 * JavaScript, while zlib's bytes depend on the processor.
 */

export interface WrittenTile {
  readonly z: number;
  readonly x: number;
  readonly y: number;
  /** Not packed yet. */
  readonly bytes: Uint8Array;
}

const WHOLE_WORLD = [-180, -85.0511287, 180, 85.0511287] as const;

/** The archive's bytes. */
export function writePmtiles(
  tiles: readonly WrittenTile[],
  metadata: object,
  bounds: readonly [west: number, south: number, east: number, north: number] = WHOLE_WORLD,
): Uint8Array<ArrayBuffer> {
  const { entries, data, contents } = layOut(tiles);
  const zooms = tiles.map(({ z }) => z);
  const head = archiveHead({
    entries,
    metadata: new TextEncoder().encode(JSON.stringify(metadata)),
    dataBytes: data.reduce((sum, { length }) => sum + length, 0),
    contents,
    tileCompression: Compression.Gzip,
    zooms: [Math.min(...zooms), Math.max(...zooms)],
    bounds,
    pack,
  });
  return joined([head, ...data]);
}

/** Equal tiles are stored once; those of a run share an entry. */
function layOut(tiles: readonly WrittenTile[]) {
  const entries = {
    tileIds: [] as number[],
    runLengths: [] as number[],
    offsets: [] as number[],
    lengths: [] as number[],
  };
  const data: Uint8Array[] = [];
  const places = new Map<string, { readonly offset: number; readonly length: number }>();
  let offset = 0;
  const byId = tiles.map(({ z, x, y, bytes }) => ({ tileId: zxyToTileId(z, x, y), bytes }));
  for (const { tileId, bytes } of byId.sort((a, b) => a.tileId - b.tileId)) {
    const content = Buffer.from(bytes).toString("latin1");
    let place = places.get(content);
    if (place === undefined) {
      const packed = pack(bytes);
      place = { offset, length: packed.length };
      places.set(content, place);
      data.push(packed);
      offset += packed.length;
    }
    const last = entries.tileIds.length - 1;
    const continues =
      entries.offsets[last] === place.offset && entries.tileIds[last]! + entries.runLengths[last]! === tileId;
    if (continues) entries.runLengths[last]!++;
    else {
      entries.tileIds.push(tileId);
      entries.runLengths.push(1);
      entries.offsets.push(place.offset);
      entries.lengths.push(place.length);
    }
  }
  return { entries, data, contents: places.size };
}

function pack(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 9, mtime: 0 });
}
