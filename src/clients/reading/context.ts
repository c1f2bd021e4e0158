import type { ClientMessage } from "../client.ts";
import type { SpeedUnit } from "./speed.ts";
import { readOs } from "./states.ts";
import { readTimeMs } from "./time.ts";

/** What the points of a message share. */
export interface MessageContext {
  readonly arrivedMs: number;
  /** Who logged in beside the key: apps with a field for a user have none other for it. */
  readonly user: string | null;
  readonly os: string | null;
  readonly speedUnit: SpeedUnit;
}

/** Speeds are in the client's unit unless the operator says otherwise. */
export function contextOf(message: ClientMessage, clientUnit: SpeedUnit): MessageContext {
  const { arrivedMs, basicUser, headers, speedUnit } = message;
  return {
    arrivedMs,
    user: basicUser,
    os: readOs(headers["user-agent"]),
    speedUnit: speedUnit ?? clientUnit,
  };
}

/** For clients that leave out the time where it is now. */
export function timeOrArrivalMs(timestamp: unknown, { arrivedMs }: MessageContext): number | null {
  const isTold = timestamp !== undefined && timestamp !== null && timestamp !== "";
  return isTold ? readTimeMs(timestamp) : arrivedMs;
}
