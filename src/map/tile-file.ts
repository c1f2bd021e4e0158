import { createHash } from "node:crypto";
import { bytesToHeader, Compression, type Header, PMTiles, type Source, TileType } from "pmtiles";
import { gunzip } from "../lib/bytes/gunzip.ts";
import { isObject } from "../lib/is-object.ts";
import { messageOf } from "../lib/message-of.ts";
import { Semaphore } from "../lib/schedule/semaphore.ts";
import type { Inputs } from "../runtime/inputs.ts";
import { type Credit, parseCredits, textOf } from "./credits.ts";
import { DirectoryCache, TileSource, unpack } from "./tile-source.ts";

/*
 * A PMTiles archive of vector tiles. The file is not trusted: its header is checked when it is opened, and each byte
 * range when it is read.
 */

export interface TileFile {
  readonly facts: TileFacts;
  /** The tile as it is stored; null if the file has none there. Rejects if the file is damaged. */
  find(z: number, x: number, y: number): Promise<StoredTile | null>;
  close(): Promise<void>;
}

export interface TileFacts {
  /** Changes with the file. */
  readonly version: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  readonly bounds: Bounds;
  /** The area, or several if this is more than one file. */
  readonly areas: readonly Bounds[];
  /** Plain text. */
  readonly attribution: string;
  /** The attribution in pieces with their links. */
  readonly credits: readonly Credit[];
}

/** In degrees. */
export type Bounds = readonly [west: number, south: number, east: number, north: number];

export interface StoredTile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isGzipped: boolean;
}

/** Tile ids of greater zooms exceed exact numbers. */
export const TILE_ZOOM_MAX = 26;

const HEADER_BYTES = 127;
/** PMTiles' root directory ends within these bytes, so one read opens a file. */
export const ROOT_END = 16_384;
const METADATA_BYTES_MAX = 4 * 1024 * 1024;
const SPEC_VERSION = 3;

/** Layers of a Protomaps basemap. A file without any of them would show nothing. */
const KNOWN_LAYERS = ["earth", "water", "landuse", "roads", "buildings", "boundaries", "places"];

/** Opens and checks a file. Throws a `FileError`, or a `MapFileError` that says what to do. */
export async function openTileFile(inputs: Inputs, path: string): Promise<TileFile> {
  const { kind, modifiedMs } = await inputs.stat(path);
  if (kind !== "file") throw new MapFileError(path, "it is not a file");
  const input = await inputs.open(path);
  try {
    const begin = new Uint8Array(Math.min(ROOT_END, input.sizeBytes));
    await input.read(begin, 0);
    const header = checkedHeader(path, begin, input.sizeBytes);
    const source = new TileSource(input);
    const credits = parseCredits((await readMetadata(path, source, header)).attribution);
    const state = `${input.sizeBytes} ${modifiedMs}`;
    const version = createHash("sha256").update(begin).update(state).digest("base64url").slice(0, 16);
    const { minZoom, maxZoom, minLon, minLat, maxLon, maxLat } = header;
    const bounds = [minLon, minLat, maxLon, maxLat] as const;
    const tiles = new PMTiles(source, new DirectoryCache(header), asItIs);
    return {
      facts: { version, minZoom, maxZoom, bounds, areas: [bounds], attribution: textOf(credits), credits },
      find: (z, x, y) => find(path, tiles, header, [z, x, y]),
      close: () => input.close(),
    };
  } catch (error) {
    await input.close();
    throw error;
  }
}

async function find(
  path: string,
  tiles: PMTiles,
  header: Header,
  address: readonly [z: number, x: number, y: number],
): Promise<StoredTile | null> {
  try {
    const tile = await tiles.getZxy(...address);
    if (tile === undefined) return null;
    return { bytes: new Uint8Array(tile.data), isGzipped: header.tileCompression === Compression.Gzip };
  } catch (cause) {
    throw new Error(`Cannot read tile ${address.join("/")} of "${path}": ${messageOf(cause)}`, { cause });
  }
}

/** In place of a decompressor: tiles are sent as they are stored. */
async function asItIs(bytes: ArrayBuffer): Promise<ArrayBuffer> {
  return bytes;
}

/** The header in the first bytes of an archive, checked. `path` names the archive in a `MapFileError`. */
export function checkedHeader(path: string, begin: Uint8Array<ArrayBuffer>, sizeBytes: number): Header {
  const refuse = (fault: string) => new MapFileError(path, fault);
  const isPmtiles = new TextDecoder().decode(begin.subarray(0, 7)) === "PMTiles";
  if (!isPmtiles || begin.length < HEADER_BYTES) throw refuse("it is not a PMTiles archive");
  if (begin[7] !== SPEC_VERSION)
    throw refuse(
      `it has version ${begin[7]} of PMTiles, not ${SPEC_VERSION}; \`pmtiles convert\` upgrades it`,
    );
  const header = bytesToHeader(begin.buffer);
  const needed = endOf(header);
  if (!(needed <= sizeBytes))
    throw refuse(`it has ${sizeBytes} of ${needed} bytes, so its copy is incomplete; copy it again`);
  if (header.rootDirectoryOffset + header.rootDirectoryLength > ROOT_END)
    throw refuse("its root directory is longer than PMTiles allows");
  if (header.tileType !== TileType.Mvt)
    throw refuse("its tiles are not vector tiles (MVT); use an extract of a Protomaps basemap");
  if (!isReadable(header.internalCompression) || !isReadable(header.tileCompression))
    throw refuse("its compression is not gzip; convert it with `pmtiles convert` or `tile-join`");
  if (!isPlausible(header)) throw refuse("its header has impossible zooms or bounds; create it again");
  return header;
}

/** The last byte that the header names. */
function endOf(header: Header): number {
  return Math.max(
    header.rootDirectoryOffset + header.rootDirectoryLength,
    header.jsonMetadataOffset + header.jsonMetadataLength,
    header.leafDirectoryOffset + (header.leafDirectoryLength ?? 0),
    header.tileDataOffset + (header.tileDataLength ?? 0),
  );
}

function isReadable(compression: Compression): boolean {
  return compression === Compression.Gzip || compression === Compression.None;
}

function isPlausible({ minZoom, maxZoom, minLon, minLat, maxLon, maxLat }: Header): boolean {
  const areZooms = minZoom <= maxZoom && maxZoom <= TILE_ZOOM_MAX;
  const areLongitudes = minLon >= -180 && minLon < maxLon && maxLon <= 180;
  return areZooms && areLongitudes && minLat >= -90 && minLat < maxLat && maxLat <= 90;
}

/** The metadata of an archive, which has a layer of a Protomaps basemap. Throws a `MapFileError`. */
export async function readMetadata(
  path: string,
  source: Source,
  header: Header,
): Promise<Readonly<Record<string, unknown>>> {
  let metadata: unknown;
  try {
    const { data } = await source.getBytes(header.jsonMetadataOffset, header.jsonMetadataLength);
    const json = await unpack(new Uint8Array(data), header.internalCompression, METADATA_BYTES_MAX);
    metadata = JSON.parse(new TextDecoder().decode(json));
  } catch (cause) {
    throw new MapFileError(
      path,
      `its metadata can't be read (${messageOf(cause)}); copy or create it again`,
      cause,
    );
  }
  const checked = isObject(metadata) ? metadata : {};
  const { vector_layers: layers } = checked;
  const names = Array.isArray(layers) ? layers.map((layer) => isObject(layer) && layer.id) : [];
  if (!KNOWN_LAYERS.some((layer) => names.includes(layer)))
    throw new MapFileError(
      path,
      `it has no layer of a Protomaps basemap (${KNOWN_LAYERS.join(", ")}); docs/streets.md says how to get one`,
    );
  return checked;
}

/** A file that can't be used as a map. The message says why and what to do. */
export class MapFileError extends Error {
  override readonly name = "MapFileError";

  constructor(path: string, fault: string, cause?: unknown) {
    super(`Cannot use "${path}" as a map: ${fault}`, { cause });
  }
}

/** A tile of a planet has a megabyte or two. Deno decompresses without yielding: 16 MiB took 30 ms. */
const UNPACKED_BYTES_MAX = 8 * 1024 * 1024;

/** One for each thread. Requests need no key, so a tile that waits for its turn stays compressed. */
const UNPACKING_MAX = 4;
const OWNER = "";

/** Decompresses tiles for the few clients that don't accept gzip. Browsers do. */
export class TileUnpacker {
  readonly #unpacking = new Semaphore(UNPACKING_MAX);
  readonly #gunzip: typeof gunzip;

  constructor(unpack = gunzip) {
    this.#gunzip = unpack;
  }

  /** Rejects if the tile is not gzip, or is too large. */
  unpack(packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    return this.#unpacking.run(OWNER, () => this.#gunzip(packed, UNPACKED_BYTES_MAX));
  }
}
