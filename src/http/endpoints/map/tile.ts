import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { Tile } from "../../../map/tile.ts";
import { createDrawCurrent, type TileBytes } from "../../../service/queries/current-tile.ts";
import { createDrawDensity } from "../../../service/queries/density-tile.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { SENT_WITH_TAG } from "../../openapi/responses.ts";
import { choice, optionalNumber } from "../../parameters/kinds.ts";
import { invalid } from "../../parameters/parameter.ts";
import { wholeNumber } from "../../parameters/path-parameter.ts";
import { INSTANT_BOUNDS, readInstants } from "../../parameters/ranges.ts";

/* Where devices are, as vector tiles: what QGIS, MapLibre and others draw. */

const ZOOM_MAX = 16;
const LAST = 2 ** ZOOM_MAX - 1;
const CONTENT_TYPE = "application/vnd.mapbox-vector-tile";

export const vectorTile = queryEndpoint({
  operationId: "getTile",
  tag: "App",
  summary: "Where devices are or were, as a vector tile",
  description: [
    "A Mapbox Vector Tile of web mercator, 4096 units to a side, with the layer that is asked for. `current` has a point for",
    "each device in the tile or up to 64 units around, with `device_id`, `timestamp`, `speed` and `bearing` as they are known. Devices less than 4 units from",
    "each other may be one point, the one that reported last, and `count` says how many they are. Where that would be",
    "more than 5,000 points, those within 8 units are one, or within 16, 32 or 64: nobody is left out. `density` has squares",
    "of 64 units, with the `count` of positions that were made in them from `start` to `end`, as `/api/v1/density` counts",
    "them; squares without one are left out. It needs `read`.",
  ].join(" "),
  path: "/api/v1/tiles/:z/:x/:y.mvt",
  inPath: {
    z: wholeNumber("z", {
      description: "Zoom: the world is 2^z tiles wide.",
      maximum: ZOOM_MAX,
      example: 10,
    }),
    x: wholeNumber("x", { description: "Column from the west, below 2^z.", maximum: LAST, example: 503 }),
    y: wholeNumber("y", { description: "Row from the north, below 2^z.", maximum: LAST, example: 331 }),
  },
  query: {
    layer: choice("Latest positions, or how many there were.", ["current", "density"], "current"),
    start: optionalNumber("integer", {
      description: "First instant of a density, Unix ms.",
      ...INSTANT_BOUNDS,
    }),
    end: optionalNumber("integer", { description: "First instant behind it, Unix ms.", ...INSTANT_BOUNDS }),
  },
  wrongQuery: "layer=heat",
  isForViews: true,
  answer: {
    contentType: CONTENT_TYPE,
    description: "The tile.",
    schema: { type: "string", format: "binary" },
  },
  failures: { 204: { description: "There is nothing in the tile.", headers: SENT_WITH_TAG } },
  versionOf: ({ versions }, { appId, view }, { layer }) =>
    layer === "current" ? versions.ofNewest(appId, view) : versions.ofRecords(appId),
  open(services) {
    const drawCurrent = createDrawCurrent(services);
    const drawDensity = createDrawDensity(services);
    return (call, { z, x, y, layer, start, end }) => {
      const { appId, view, request } = call;
      const send = (bytes: TileBytes) => call.binary(bytes, CONTENT_TYPE);
      const last = 2 ** z - 1;
      if (x > last || y > last)
        return call.fail(invalid(`x and y must be at most ${last} at zoom ${z}`).error);
      const tile = new Tile(z, x, y);
      if (layer === "current") return mapMaybe(drawCurrent(appId, tile, view, request), send);
      if (view !== null) return call.fail({ kind: "permission_missing", permission: "read" });
      if (start === null || end === null) return call.fail(LACKS_RANGE);
      const range = readInstants({ start, end });
      if (!range.ok) return call.fail(range.error);
      return drawDensity(appId, tile, range.value, request).then((drawn) =>
        drawn.ok ? send(drawn.value) : call.fail(drawn.error),
      );
    };
  },
});

const LACKS_RANGE = invalid("start and end are required with layer=density").error;
