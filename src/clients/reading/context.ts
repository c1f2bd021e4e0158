import type { ClientMessage } from "../client.ts";
import type { SpeedUnit } from "./speed.ts";
import { readOs } from "./states.ts";

/** What the points of a message share. */
export interface MessageContext {
  readonly arrivedMs: number;
  /** Who logged in beside the key: apps with a field for a user have none other for it. */
  readonly user: string | null;
  readonly os: string | null;
  readonly speedUnit: SpeedUnit;
  /** What the operator says speeds are in; null if that is left to the client. */
  readonly givenUnit: SpeedUnit | null;
}

/** Speeds are in the client's unit unless the operator says otherwise. */
export function contextOf(message: ClientMessage, clientUnit: SpeedUnit): MessageContext {
  const { arrivedMs, basicUser, headers, speedUnit } = message;
  return {
    arrivedMs,
    user: basicUser,
    os: readOs(headers["user-agent"]),
    speedUnit: speedUnit ?? clientUnit,
    givenUnit: speedUnit,
  };
}
