import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { TILE_ZOOM_MAX, type TileFacts, type TileFile, TileUnpacker } from "../../../map/tile-file.ts";
import { IMMUTABLE_CACHE, REVALIDATED_CACHE, SAME_ORIGIN_HEADERS } from "../../answer/headers.ts";
import { type Endpoint, hiddenEndpoint, type OpenEndpoint } from "../../endpoint.ts";
import { readPath, segmentsOf, wholeNumber } from "../../parameters/path-parameter.ts";
import type { Services } from "../../services.ts";

/*
 * The base map under the devices, for the map page and without a key: its description and its tiles. The program
 * contains the tiles of the world; those of streets come from the operator's file.
 */

const CONTENT_TYPE = "application/vnd.mapbox-vector-tile";

const WORLD_PATH = "/map/tiles";
const STREETS_PATH = "/map/streets";

/** The two maps and the addresses of their tiles; the page has its own style. */
const facts = hiddenEndpoint("/map/base.json", ({ baseMap }, responder) => {
  return (request) => {
    const { world, streets } = baseMap();
    const body = {
      world: describe(world.facts, WORLD_PATH),
      streets: streets === null ? null : describe(streets.facts, STREETS_PATH),
    };
    return responder.object(request, 200, body, { ...REVALIDATED_CACHE, ...SAME_ORIGIN_HEADERS });
  };
});

/** In TileJSON's terms, except that the attribution is text and links instead of HTML. */
function describe({ version, minZoom, maxZoom, bounds, areas, credits }: TileFacts, path: string) {
  const tiles = `${path}/{z}/{x}/{y}?v=${version}`;
  return { tiles, minzoom: minZoom, maxzoom: maxZoom, bounds, areas, credits };
}

const WHOLE = { description: "Tile coordinate.", example: 0 };
const ADDRESS = {
  z: wholeNumber("z", { ...WHOLE, maximum: TILE_ZOOM_MAX }),
  x: wholeNumber("x", { ...WHOLE, maximum: 2 ** TILE_ZOOM_MAX - 1 }),
  y: wholeNumber("y", { ...WHOLE, maximum: 2 ** TILE_ZOOM_MAX - 1 }),
};

function tiles(
  root: string,
  fileOf: (baseMap: ReturnType<Services["baseMap"]>) => TileFile | null,
): OpenEndpoint {
  const path = `${root}/:z/:x/:y`;
  const segments = segmentsOf(path, ADDRESS);
  const open: OpenEndpoint["open"] = ({ baseMap }, responder) => {
    const unpacker = new TileUnpacker();
    const unpack = (packed: Uint8Array) => unpacker.unpack(packed);
    return (request) => {
      const file = fileOf(baseMap());
      const values: Record<string, unknown> = {};
      const error = readPath(request.url, segments, values);
      if (error !== null) return responder.failure(request, error);
      if (file === null) return responder.failure(request, NO_STREETS);
      const { z, x, y } = values as Record<keyof typeof ADDRESS, number>;
      if (x >= 2 ** z || y >= 2 ** z) {
        const message = `the map has no tile ${z}/${x}/${y}`;
        return responder.failure(request, { kind: "tile_not_found", message });
      }
      // Only a request with the version may be cached forever: tomorrow the path may lead to another file.
      const isVersioned = request.url.endsWith(`?v=${file.facts.version}`);
      const headers = { ...(isVersioned ? IMMUTABLE_CACHE : REVALIDATED_CACHE), ...SAME_ORIGIN_HEADERS };
      return mapMaybe(file.find(z, x, y), (tile) => {
        if (tile?.isGzipped !== true)
          return responder.binary(request, tile?.bytes ?? null, CONTENT_TYPE, headers);
        const typed = { ...headers, "content-type": CONTENT_TYPE };
        return responder.gzipped(request, tile.bytes, unpack, typed);
      });
    };
  };
  return hiddenEndpoint(path, open, ADDRESS);
}

const NO_STREETS = { kind: "tile_not_found", message: "the server has no map of streets" } as const;

export const baseMapEndpoints: readonly Endpoint[] = [
  facts,
  tiles(WORLD_PATH, ({ world }) => world),
  tiles(STREETS_PATH, ({ streets }) => streets),
];
