import { send } from "../../support/client.ts";
import type { Stage } from "../support/stage.ts";
import { storedItems } from "./card.ts";

/* A van that stands at a depot for an hour of yesterday, drives away and comes back; and the geofences of its app. */

const DAY_MS = 86_400_000;
export const NOON_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2;
const STEP_MS = 60_000;
export const DEPOT = { latitude: 51.5, longitude: -0.1 };
export const AWAY_DEGREES = 0.05;
/** Meters per second: 18 and 108 km/h. */
const SPEEDS = { there: 5, away: 30 };

export function reports() {
  return Array.from({ length: 180 }, (_, minute) => {
    const isAway = minute >= 60 && minute < 120;
    return {
      ...{ device_id: "van", timestamp: NOON_MS + minute * STEP_MS, latitude: DEPOT.latitude },
      longitude: DEPOT.longitude + (isAway ? AWAY_DEGREES : 0),
      speed: isAway ? SPEEDS.away : SPEEDS.there,
    };
  });
}

interface StoredFence {
  readonly id: string;
  readonly geometry: { readonly type: string; readonly coordinates: readonly unknown[] };
  readonly properties: Readonly<Record<string, unknown>>;
}

export function storedFences(stage: Stage): Promise<readonly StoredFence[]> {
  return storedItems(stage, "geofences");
}

export async function removeFences(stage: Stage): Promise<void> {
  for (const { id } of await storedFences(stage))
    await send(stage.client, "DELETE", `/api/v1/geofences/${id}`);
}
