import { OFFSET_MINUTES_MAX, type Zone } from "../../../model/time/zone.ts";
import type { Remark } from "../file-point.ts";

/** Finds the instants at which the clocks of a zone show what a file says. */
export interface ClockTimes {
  /** Unix ms; `remark` says afterwards what was done where clocks show it twice or never. */
  instantMs(clockMs: number): number;
  readonly remark: Remark | null;
}

const OFFSET_MAX_MS = OFFSET_MINUTES_MAX * 60_000;

/**
 * Of an hour that clocks show twice it takes the earlier instant; what they never show it moves forward by as much as
 * they leave out, so that the distances of times before the change stay. Files are read in order, mostly: the stretch
 * between two changes that served the last time serves the next one.
 */
export function createClockTimes(zone: Zone): ClockTimes {
  let remark: Remark | null = null;
  /** Clock times for which the offset is beyond doubt, and the offset. */
  let surelyFromMs = Infinity;
  let surelyToMs = -Infinity;
  let offsetMs = 0;

  return {
    instantMs(clockMs) {
      remark = null;
      if (clockMs >= surelyFromMs && clockMs < surelyToMs) return clockMs - offsetMs;
      const found = findInstant(zone, clockMs);
      remark = found.remark;
      const span = zone.offsetSpanAt(found.instantMs);
      offsetMs = offsetMsOf(span);
      // Wherever the change before or after goes from or to, no clock shows the same twice that far from it.
      surelyFromMs = span.startMs + offsetMs + 2 * OFFSET_MAX_MS;
      surelyToMs = span.endMs + offsetMs - 2 * OFFSET_MAX_MS;
      return found.instantMs;
    },
    get remark() {
      return remark;
    },
  };
}

function findInstant(zone: Zone, clockMs: number): { instantMs: number; remark: Remark | null } {
  // Before this stretch clocks showed less in every zone, so the first that shows the time is the earliest.
  let span = zone.offsetSpanAt(clockMs - OFFSET_MAX_MS);
  for (;;) {
    const instantMs = clockMs - offsetMsOf(span);
    if (instantMs < span.endMs)
      return { instantMs, remark: isShownAgain(zone, clockMs, span.endMs) ? "repeated_hour" : null };
    const next = zone.offsetSpanAt(span.endMs);
    // The next stretch begins with a later time: nobody's clock showed this one.
    if (clockMs - offsetMsOf(next) < next.startMs) return { instantMs, remark: "skipped_hour" };
    span = next;
  }
}

/** Whether clocks show a time after a change, too. */
function isShownAgain(zone: Zone, clockMs: number, changeMs: number): boolean {
  let startMs = changeMs;
  while (startMs <= clockMs + OFFSET_MAX_MS) {
    const span = zone.offsetSpanAt(startMs);
    const instantMs = clockMs - offsetMsOf(span);
    if (instantMs >= span.startMs && instantMs < span.endMs) return true;
    startMs = span.endMs;
  }
  return false;
}

/** Local mean time has seconds, kept as fractions of minutes. */
function offsetMsOf({ offsetMinutes }: { readonly offsetMinutes: number }): number {
  return Math.round(offsetMinutes * 60_000);
}
