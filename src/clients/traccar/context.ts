import type { SpeedUnit } from "../reading/speed.ts";
import { readTimeMs } from "../reading/time.ts";

/** What the points of a message share. */
export interface TraccarContext {
  readonly arrivedMs: number;
  readonly os: string | null;
  readonly speedUnit: SpeedUnit;
}

/** Trackers may leave out the time where it is now. */
export function timeOrArrivalMs(timestamp: unknown, { arrivedMs }: TraccarContext): number | null {
  const isTold = timestamp !== undefined && timestamp !== null && timestamp !== "";
  return isTold ? readTimeMs(timestamp) : arrivedMs;
}
