import { countUntil, firstMs, lastMs, type Way } from "./recording.ts";

/** Where on its way a device is that goes there and back again, for ever. */
export interface Leg {
  /** Counts the turns at the ends: odd ones lead back. */
  readonly turn: number;
  /** The position that it reported last. */
  readonly index: number;
}

/**
 * At each end it rests for so long, in time of the recording, and goes back the way it came: what jumped to its start
 * instead would be in two places at once.
 */
const REST_MS = 10 * 60_000;

/** The leg at so much time of the recording after the device's first position; null before it. */
export function legAt(way: Way, elapsedMs: number): Leg | null {
  if (elapsedMs < 0) return null;
  const legMs = lastMs(way) - firstMs(way) + REST_MS;
  const turn = Math.floor(elapsedMs / legMs);
  const withinMs = elapsedMs - turn * legMs;
  if (!leadsBack(turn)) return { turn, index: countUntil(way, firstMs(way) + withinMs) - 1 };
  return { turn, index: countUntil(way, lastMs(way) - withinMs - 1) }; // The first that is no earlier.
}

export function leadsBack(turn: number): boolean {
  return turn % 2 === 1;
}
