import { PositionIndex } from "../../../src/spatial/position-index.ts";
import { PositionSearch } from "../../../src/spatial/search.ts";
import { numberOrder } from "../../../test/support/number-order.ts";
import type { Contestant } from "./contestant.ts";
import type { PositionColumns } from "./positions.ts";

/** The server's index. */
export function createOurs(positions: PositionColumns): Contestant {
  const { latitude, longitude, timestampMs, accuracyMeters } = positions;
  const index = new PositionIndex(new PositionSearch(), numberOrder(latitude.length));
  for (let device = 0; device < latitude.length; device++)
    index.set(device, latitude[device]!, longitude[device]!, timestampMs[device]!, accuracyMeters[device]!);
  return {
    name: "ours",
    set: (device, lat, lon, ms, meters) => index.set(device, lat, lon, ms, meters),
    find: (circle) => index.find(circle),
  };
}
