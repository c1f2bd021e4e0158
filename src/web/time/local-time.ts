import { MS_PER_HOUR, wallMs } from "./local-day.ts";

/* The values of `<input type="datetime-local">`, which are times on the clocks of a zone. */

/**
 * The instant at which the clocks of a zone show the value of an `<input type="datetime-local">`: the first one in an
 * hour that occurs twice, and one hour later for an hour that clocks skip. Null if the input is empty.
 */
export function instantOf(local: string, zone: string): number | null {
  const wall = Date.parse(`${local}Z`);
  if (Number.isNaN(wall)) return null;
  // The zone's offset is that of the day before or that of the day after.
  const candidates = [-24, 24].map((hours) => {
    const near = wall + hours * MS_PER_HOUR;
    return wall - (wallMs(near, zone) - near);
  });
  return candidates.find((ms) => wallMs(ms, zone) === wall) ?? Math.max(...candidates);
}

/** An instant as the value of such an input. */
export function localTextOf(ms: number, zone: string): string {
  return new Date(wallMs(ms, zone)).toISOString().slice(0, "2026-11-22T18:30".length);
}
