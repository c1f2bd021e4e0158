import { createFindDensity } from "../../../service/queries/density.ts";
import { jsonColumns } from "../../encode/json-columns.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { bbox } from "../../parameters/common.ts";
import { requiredNumber } from "../../parameters/kinds.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { always, count, object, optional, plain, text } from "../../shapes/shape.ts";

const ZOOM_MAX = 22;

const whole = (description: string) =>
  plain<never>({ type: "array", items: { type: "integer", minimum: 0 }, description });

const answer = object({
  success: always(true),
  app_id: text("Application of the key."),
  zoom: count("The zoom of the cells: the requested one, or less."),
  incomplete: optional(incomplete),
  x: whole("Columns of cells, from the west."),
  y: whole("Rows of cells, from the north."),
  count: whole("Positions in each cell."),
});

export const density = queryEndpoint({
  operationId: "getDensity",
  tag: "App",
  summary: "Number of positions in each cell of the map",
  description: [
    "Counts every position of the app in the range, in cells of 1/64 of a web mercator tile to a side: 4 pixels of 256.",
    "At a zoom the world is 64 · 2^zoom cells wide. Cells are ordered by y, then x; empty cells are omitted. Positions",
    "nearer to a pole than 85.05112878° count in the first or last row, and 180° in the last column. If more than 65,536",
    "cells have positions, the answer has the greatest zoom at which fewer do.",
  ].join(" "),
  path: "/api/v1/density",
  inPath: {},
  query: {
    ...instants,
    bbox: bbox("Counts only positions in this box."),
    zoom: requiredNumber("integer", {
      description: "Zoom of the map on which the cells are drawn.",
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
      const result = await findDensity(call.appId, { range: range.value, box, zoom }, call.request);
      if (!result.ok) return call.fail(result.error);
      const { column, row, count, isIncomplete } = result.value;
      const members = { success: true, app_id: call.appId, zoom: result.value.zoom };
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
