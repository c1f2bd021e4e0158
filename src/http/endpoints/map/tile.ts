import type { Result } from "../../../lib/result.ts";
import { mapMaybe } from "../../../lib/schedule/maybe-promise.ts";
import { Tile } from "../../../map/tile.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { createDrawCurrent, type TileBytes } from "../../../service/queries/current-tile.ts";
import { createDrawDensity } from "../../../service/queries/density-tile.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { SENT_WITH_TAG } from "../../openapi/responses.ts";
import { choice, optionalNumber } from "../../parameters/kinds.ts";
import { invalid } from "../../parameters/parameter.ts";
import { wholeNumber } from "../../parameters/path-parameter.ts";
import { INSTANT_BOUNDS, readInstants } from "../../parameters/ranges.ts";

const ZOOM_MAX = 16;
const LAST = 2 ** ZOOM_MAX - 1;
const CONTENT_TYPE = "application/vnd.mapbox-vector-tile";

export const vectorTile = queryEndpoint({
  operationId: "getTile",
  tag: "App",
  summary: "Current or past positions as a vector tile",
  description: [
    "A Mapbox Vector Tile in web mercator, 4096 units to a side, with the requested layer. `current` has a point for each",
    "device in the tile or up to 64 units around it, with `device_id`, `timestamp`, and `speed` and `bearing` if known.",
    "Devices less than 4 units from each other may share a point: the one that reported last, with their number as `count`.",
    "If there would be more than 5,000 points, devices within 8, 16, 32 or 64 units share one, so that every device counts.",
    "`density` has squares of 64 units with the `count` of positions from `start` to `end`, as in `/api/v1/density`; empty",
    "squares are omitted. `tracks` has points with the `count` of positions of the last 90 days in 1/256 of the tile, or",
    "more if devices have been in more than 262,144 cells; it may be ten minutes old, or older if there are very many",
    "records. `density` and `tracks` need `read`.",
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
    layer: choice(
      "Latest positions, the number of positions in a range, or where devices have been.",
      ["current", "density", "tracks"],
      "current",
    ),
    start: optionalNumber("integer", {
      description: "First instant of a density, Unix ms.",
      ...INSTANT_BOUNDS,
    }),
    end: optionalNumber("integer", { description: "First instant after it, Unix ms.", ...INSTANT_BOUNDS }),
  },
  wrongQuery: "layer=heat",
  isForViews: true,
  answer: {
    contentType: CONTENT_TYPE,
    description: "The tile.",
    schema: { type: "string", format: "binary" },
  },
  failures: { 204: { description: "The tile is empty.", headers: SENT_WITH_TAG } },
  versionOf({ versions, tracks }, { appId, view }, { layer }) {
    if (layer === "tracks") return tracks.version(appId);
    return layer === "current" ? versions.ofNewest(appId, view) : versions.ofRecords(appId);
  },
  open(services) {
    const drawCurrent = createDrawCurrent(services);
    const drawDensity = createDrawDensity(services);
    const { tracks } = services;
    return (call, { z, x, y, layer, start, end }) => {
      const { appId, view, request } = call;
      const send = (bytes: TileBytes) => call.binary(bytes, CONTENT_TYPE);
      const last = 2 ** z - 1;
      if (x > last || y > last)
        return call.fail(invalid(`x and y must be at most ${last} at zoom ${z}`).error);
      const tile = new Tile(z, x, y);
      if (layer === "current") return mapMaybe(drawCurrent(appId, tile, view, request), send);
      if (view !== null) return call.fail({ kind: "permission_missing", permission: "read" });
      const sendResult = (bytes: Result<TileBytes, ServiceError>) =>
        bytes.ok ? send(bytes.value) : call.fail(bytes.error);
      if (layer === "tracks") return tracks.draw(appId, tile, request).then(sendResult);
      if (start === null || end === null) return call.fail(LACKS_RANGE);
      const range = readInstants({ start, end });
      if (!range.ok) return call.fail(range.error);
      return drawDensity(appId, tile, range.value, request).then(sendResult);
    };
  },
});

const LACKS_RANGE = invalid("start and end are required with layer=density").error;
