import { ok, type Result } from "../../lib/result.ts";
import { parsePlainDecimal } from "../../lib/text/decimal.ts";
import type { ServiceError } from "../../model/errors.ts";
import { BoundingBox } from "../../model/geo/bounding-box.ts";
import { invalid, type Parameter } from "./parameter.ts";

/** The part of the map that an answer is about; null, where it is left out, is all of it. */
export function bbox(description: string): Parameter<BoundingBox | null> {
  return {
    description: [
      description,
      "Degrees as west,south,east,north, edges included; west greater than east crosses ±180°.",
      "All of the world where left out.",
    ].join(" "),
    required: false,
    schema: { type: "string", pattern: BBOX_PATTERN },
    parse: (name, text) => (text === null ? ok(null) : parseBox(name, text)),
  };
}

const BBOX_PATTERN = "^-?[0-9]+(\\.[0-9]+)?(,-?[0-9]+(\\.[0-9]+)?){3}$";

function parseBox(name: string, text: string): Result<BoundingBox, ServiceError> {
  const edges = text.split(",", 5).map((edge) => parsePlainDecimal(edge) + 0); // -0 is 0.
  if (edges.length !== 4 || edges.some(Number.isNaN))
    return invalid(`${name} must be west,south,east,north: four numbers in plain decimals`);
  const [west, south, east, north] = edges as [number, number, number, number];
  if (Math.max(Math.abs(west), Math.abs(east)) > 180)
    return invalid(`${name} must have west and east between -180 and 180`);
  if (Math.max(Math.abs(south), Math.abs(north)) > 90)
    return invalid(`${name} must have south and north between -90 and 90`);
  if (south > north) return invalid(`${name} must not have south above north`);
  return ok(new BoundingBox(west, south, east, north));
}
