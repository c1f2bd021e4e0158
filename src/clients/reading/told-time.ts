import type { ClientPoint } from "../point.ts";
import type { MessageContext } from "./context.ts";
import type { Members } from "./members.ts";
import { readTimeMs, readTimeMsOrNaN } from "./time.ts";
import { firstTold, isTold } from "./values.ts";

/** What the dialects call the time of a fix. */
const TIME_NAMES = ["timestamp", "tst", "time", "datetime", "timeoffset", "fixTime", "ts"] as const;

/** The time of a message whose client always sends one. */
export function readTime(told: Members): number | null {
  return readTimeMsOrNaN(findTime(told));
}

/** The time as the client wrote it, under the first of the usual names that says anything; null if none does. */
export function findTime(told: Members): unknown {
  return firstTold(...TIME_NAMES.map((name) => told[name]));
}

type ToldTime = Pick<ClientPoint, "timestampMs" | "isTimedByArrival">;

/**
 * For clients that leave out the time if it is now. The arrival stands in only for a message in whose parts nothing
 * could be a time: neither an empty one, nor one by a name or with a value that only looks like a time.
 */
export function timeOrArrival({ arrivedMs }: MessageContext, ...parts: readonly Members[]): ToldTime {
  for (const told of parts) {
    const timestampMs = readTime(told);
    if (timestampMs !== null) return { timestampMs };
  }
  if (parts.some((told) => mayTellTime(told, arrivedMs))) return { timestampMs: Number.NaN };
  return { timestampMs: arrivedMs, isTimedByArrival: true };
}

/** Names that speak of a time. */
const LIKE_A_TIME =
  /[Tt]ime|TIME|[Dd]ate|DATE|[Ss]tamp|STAMP|[Ee]poch|[Cc]lock|_at$|[a-z]At$|^(?:ts|tst|utc|UTC|at|when)$/;
/** Names whose values may look like a time and are none. */
const NOT_A_TIME = /zone|id$|uuid|^driver|odometer|distance/i;
/** How long before its arrival a number that may be a time would lie. */
const LIKELY_WITHIN_MS = 10 * 365 * 86_400_000;

function mayTellTime(told: Members, arrivedMs: number): boolean {
  return Object.entries(told).some(([name, value]) => {
    if (NOT_A_TIME.test(name) || value === null || value === undefined) return false;
    if (LIKE_A_TIME.test(name)) return true;
    if (!isTold(value)) return false;
    const timeMs = readTimeMs(value);
    return timeMs !== null && timeMs > arrivedMs - LIKELY_WITHIN_MS && timeMs < arrivedMs + LIKELY_WITHIN_MS;
  });
}
