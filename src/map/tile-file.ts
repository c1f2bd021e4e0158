import { createHash } from "node:crypto";
import { bytesToHeader, Compression, type Header, PMTiles, TileType } from "pmtiles";
import { gunzip } from "../lib/bytes/gunzip.ts";
import { isObject } from "../lib/is-object.ts";
import { messageOf } from "../lib/message-of.ts";
import { Semaphore } from "../lib/schedule/semaphore.ts";
import type { Inputs } from "../runtime/inputs.ts";
import { DirectoryCache, TileSource, unpack } from "./tile-source.ts";

/*
 * A PMTiles archive of vector tiles on the disk. It may be anybody's: what it says is checked when it is opened, and
 * each range of bytes it names when it is read.
 */

export interface TileFile {
  readonly facts: TileFacts;
  /** The tile as it lies there; null where there is none. Rejects where the file is damaged. */
  find(z: number, x: number, y: number): Promise<FoundTile | null>;
  close(): Promise<void>;
}

export interface TileFacts {
  /** Another one when the file is another. */
  readonly version: string;
  readonly minZoom: number;
  readonly maxZoom: number;
  readonly bounds: Bounds;
  /** Whom to credit, as text. */
  readonly attribution: string;
}

/** In degrees. */
export type Bounds = readonly [west: number, south: number, east: number, north: number];

export interface FoundTile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isGzipped: boolean;
}

/** Tiles of greater zooms have no number that is exact. */
export const TILE_ZOOM_MAX = 26;

const HEADER_BYTES = 127;
/** The root directory ends within, so one read opens a file. */
const ROOT_END = 16_384;
const METADATA_BYTES_MAX = 4 * 1024 * 1024;
const SPEC_VERSION = 3;

/** Some of the layers of a Protomaps basemap; a file that has none of them would show nothing. */
const KNOWN_LAYERS = ["earth", "water", "landuse", "roads", "buildings", "boundaries", "places"];

/** Opens and checks a file; throws a `MapFileError` that says what to do, or a `FileError`. */
export async function openTileFile(inputs: Inputs, path: string): Promise<TileFile> {
  const { kind, modifiedMs } = await inputs.stat(path);
  if (kind !== "file") throw new MapFileError(path, "it is no file");
  const input = await inputs.open(path);
  try {
    const begin = new Uint8Array(Math.min(ROOT_END, input.sizeBytes));
    await input.read(begin, 0);
    const header = checkedHeader(path, begin, input.sizeBytes);
    const source = new TileSource(input);
    const attribution = await readAttribution(path, source, header);
    const state = `${input.sizeBytes} ${modifiedMs}`;
    const version = createHash("sha256").update(begin).update(state).digest("base64url").slice(0, 16);
    const { minZoom, maxZoom, minLon, minLat, maxLon, maxLat } = header;
    const bounds = [minLon, minLat, maxLon, maxLat] as const;
    const tiles = new PMTiles(source, new DirectoryCache(header), asItIs);
    return {
      facts: { version, minZoom, maxZoom, bounds, attribution },
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
): Promise<FoundTile | null> {
  try {
    const found = await tiles.getZxy(...address);
    if (found === undefined) return null;
    return { bytes: new Uint8Array(found.data), isGzipped: header.tileCompression === Compression.Gzip };
  } catch (cause) {
    throw new Error(`Cannot read tile ${address.join("/")} of "${path}": ${messageOf(cause)}`, { cause });
  }
}

/** Tiles are sent as they lie there. */
async function asItIs(bytes: ArrayBuffer): Promise<ArrayBuffer> {
  return bytes;
}

function checkedHeader(path: string, begin: Uint8Array<ArrayBuffer>, sizeBytes: number): Header {
  const refuse = (fault: string) => new MapFileError(path, fault);
  const isPmtiles = new TextDecoder().decode(begin.subarray(0, 7)) === "PMTiles";
  if (!isPmtiles || begin.length < HEADER_BYTES) throw refuse("it is no PMTiles archive");
  if (begin[7] !== SPEC_VERSION)
    throw refuse(
      `it has version ${begin[7]} of PMTiles, not ${SPEC_VERSION}; \`pmtiles convert\` makes it anew`,
    );
  const header = bytesToHeader(begin.buffer);
  const needed = endOf(header);
  if (!(needed <= sizeBytes))
    throw refuse(`it has ${sizeBytes} bytes of ${needed}, so it was not copied whole; copy it again`);
  if (header.rootDirectoryOffset + header.rootDirectoryLength > ROOT_END)
    throw refuse("its root directory is longer than PMTiles allows");
  if (header.tileType !== TileType.Mvt)
    throw refuse("its tiles are no vector tiles (MVT); an extract of a Protomaps basemap has those");
  if (!isReadable(header.internalCompression) || !isReadable(header.tileCompression))
    throw refuse("it is packed by neither gzip nor nothing; `pmtiles convert` or `tile-join` makes it anew");
  if (!isPlausible(header)) throw refuse("its header has zooms or bounds that can't be; make it anew");
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

/** Looks into the metadata; returns whom to credit. */
async function readAttribution(path: string, source: TileSource, header: Header): Promise<string> {
  let metadata: unknown;
  try {
    const { data } = await source.getBytes(header.jsonMetadataOffset, header.jsonMetadataLength);
    const json = await unpack(new Uint8Array(data), header.internalCompression, METADATA_BYTES_MAX);
    metadata = JSON.parse(new TextDecoder().decode(json));
  } catch (cause) {
    throw new MapFileError(
      path,
      `its metadata can't be read (${messageOf(cause)}); copy or make it again`,
      cause,
    );
  }
  const { vector_layers: layers, attribution } = isObject(metadata) ? metadata : {};
  const names = Array.isArray(layers) ? layers.map((layer) => isObject(layer) && layer.id) : [];
  if (!KNOWN_LAYERS.some((layer) => names.includes(layer)))
    throw new MapFileError(
      path,
      `it has no layer of a Protomaps basemap (${KNOWN_LAYERS.join(", ")}); docs/streets.md says how to get one`,
    );
  return typeof attribution === "string" ? textOfHtml(attribution) : "";
}

/** A file that can't be used as a map, with why and what to do about it. */
export class MapFileError extends Error {
  override readonly name = "MapFileError";

  constructor(path: string, fault: string, cause?: unknown) {
    super(`Cannot use "${path}" as a map: ${fault}`, { cause });
  }
}

const HTML_CHARACTERS_MAX = 4000;
const TEXT_CHARACTERS_MAX = 200;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  apos: "'",
  copy: "©",
  gt: ">",
  lt: "<",
  nbsp: " ",
  quot: '"',
};

/** What a browser would show of a line of HTML. It is text: a caller that puts it into HTML has to escape it. */
function textOfHtml(html: string): string {
  return html
    .slice(0, HTML_CHARACTERS_MAX)
    .replace(/<[^<>]*>/g, "")
    .replace(/&(?:([a-z]+)|#(\d{1,6})|#x([0-9a-f]{1,5}));/gi, (reference, name, decimal, hexadecimal) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? reference;
      const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
      return String.fromCodePoint(code);
    })
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, TEXT_CHARACTERS_MAX);
}

/** A tile of a planet has a megabyte or two. Deno unpacks it in one turn: 16 MiB took 30 ms. */
const UNPACKED_BYTES_MAX = 8 * 1024 * 1024;

/** As many as there are threads for it. A request needs no key: a tile that waits is held as it lies in the file. */
const UNPACKING_MAX = 4;
const OWNER = "";

/** Unpacks tiles for clients that don't accept gzip. They are few: browsers accept it. */
export class TileUnpacker {
  readonly #unpacking = new Semaphore(UNPACKING_MAX);
  readonly #gunzip: typeof gunzip;

  constructor(unpack = gunzip) {
    this.#gunzip = unpack;
  }

  /** Rejects where the tile is no gzip, or unpacks to more than a tile has. */
  unpack(packed: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    return this.#unpacking.run(OWNER, () => this.#gunzip(packed, UNPACKED_BYTES_MAX));
  }
}
