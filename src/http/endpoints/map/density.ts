import { createFindDensity } from "../../../service/queries/density.ts";
import { jsonColumns } from "../../encode/json-columns.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox } from "../../parameters/common.ts";
import { requiredNumber } from "../../parameters/kinds.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { always, count, object, optional, plain, text } from "../../shapes/shape.ts";

/* How many positions each cell of the map has. */

const ZOOM_MAX = 22;

const whole = (description: string) =>
  plain<never>({ type: "array", items: { type: "integer", minimum: 0 }, description });

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  zoom: count("The zoom that the cells are of: the one that was asked for, or less."),
  incomplete: optional(incomplete),
  x: whole("Columns of cells, from the west."),
  y: whole("Rows of cells, from the north."),
  count: whole("Positions in each cell."),
});

export const density = queryEndpoint({
  operationId: "getDensity",
  tag: "App",
  summary: "How many positions each cell of the map has",
  description: [
    "Every position of the app in the range counts, in cells of 1/64 of a web mercator tile to a side: 4 pixels of 256.",
    "At a zoom the world is 64 · 2^zoom cells wide. Cells are ordered by y, then x; those without a position are left",
    "out. What is nearer to a pole than 85.05112878° counts in the first or last row, 180° in the last column. Where more",
    "than 65,536 cells have a position, they are of the greatest zoom at which fewer do.",
  ].join(" "),
  path: "/api/v1/density",
  inPath: {},
  query: {
    ...instants,
    bbox: bbox("Counts positions in this box alone."),
    zoom: requiredNumber("integer", {
      description: "Zoom of the map that it is drawn on.",
      minimum: 0,
      maximum: ZOOM_MAX,
      example: 12,
    }),
  },
  wrongQuery: "start=0&end=1&zoom=23",
  answer: {
    name: "Density",
    description: "The cells, in columns.",
    shape: answer,
    example: {
      success: true,
      app_id: "default",
      zoom: 12,
      x: [128_936, 128_937],
      y: [84_903, 84_903],
      count: [12, 3],
    },
  },
  versionOf: ({ versions }, { appId }) => versions.ofRecords(appId),
  open(services) {
    const findDensity = createFindDensity(services);
    return async (call, { start, end, bbox: box, zoom }) => {
      const range = readInstants({ start, end });
      if (!range.ok) return call.fail(range.error);
      const found = await findDensity(call.appId, { range: range.value, box, zoom }, call.request);
      if (!found.ok) return call.fail(found.error);
      const { column, row, count, isIncomplete } = found.value;
      const members = { success: true, app_id: call.appId, zoom: found.value.zoom };
      return call.pieces(
        jsonColumns(isIncomplete ? { ...members, incomplete: true } : members, [
          { name: "x", blocks: [column] },
          { name: "y", blocks: [row] },
          { name: "count", blocks: [count] },
        ]),
      );
    };
  },
});
