import { PositionSearch } from "../../../src/spatial/find/search.ts";
import { createPositionIndex } from "../../../src/spatial/position-index.ts";
import { numberOrder } from "../../../test/support/number-order.ts";
import type { Contestant } from "./contestant.ts";
import type { PositionColumns } from "./positions.ts";

/** The index that the server answers from. */
export function createOurs(positions: PositionColumns): Contestant {
  const { latitude, longitude, timestampMs, accuracyMeters } = positions;
  const { set, find } = createPositionIndex(new PositionSearch(), numberOrder(latitude.length));
  for (let device = 0; device < latitude.length; device++)
    set(device, latitude[device]!, longitude[device]!, timestampMs[device]!, accuracyMeters[device]!);
  return { name: "ours", set, find };
}
