import { OFFSET_MINUTES_MAX, type Zone } from "../../../model/time/zone.ts";
import type { Remark } from "../file-point.ts";

/** Converts clock times of a zone to instants. */
export interface ClockTimes {
  /** Returns Unix ms. `remark` then tells how a time was handled that clocks show twice or never. */
  instantMs(clockMs: number): number;
  readonly remark: Remark | null;
}

const OFFSET_MAX_MS = OFFSET_MINUTES_MAX * 60_000;

/**
 * For a repeated hour it takes the earlier instant; a skipped time moves forward by the length of the gap, so that
 * intervals before the change are preserved. Files are mostly in order, so the last span between two changes is cached.
 */
export function createClockTimes(zone: Zone): ClockTimes {
  let remark: Remark | null = null;
  /** The range of clock times for which the cached offset is certain. */
  let surelyFromMs = Infinity;
  let surelyToMs = -Infinity;
  let offsetMs = 0;

  return {
    instantMs(clockMs) {
      remark = null;
      if (clockMs >= surelyFromMs && clockMs < surelyToMs) return clockMs - offsetMs;
      const result = findInstant(zone, clockMs);
      remark = result.remark;
      const span = zone.offsetSpanAt(result.instantMs);
      offsetMs = offsetMsOf(span);
      // This far from a change, no clock shows a time twice.
      surelyFromMs = span.startMs + offsetMs + 2 * OFFSET_MAX_MS;
      surelyToMs = span.endMs + offsetMs - 2 * OFFSET_MAX_MS;
      return result.instantMs;
    },
    get remark() {
      return remark;
    },
  };
}

function findInstant(zone: Zone, clockMs: number): { instantMs: number; remark: Remark | null } {
  // Before this span clocks showed an earlier time in every zone, so the first match is the earliest instant.
  let span = zone.offsetSpanAt(clockMs - OFFSET_MAX_MS);
  for (;;) {
    const instantMs = clockMs - offsetMsOf(span);
    if (instantMs < span.endMs)
      return { instantMs, remark: isShownAgain(zone, clockMs, span.endMs) ? "repeated_hour" : null };
    const next = zone.offsetSpanAt(span.endMs);
    // The next span begins with a later time, so clocks skip this one.
    if (clockMs - offsetMsOf(next) < next.startMs) return { instantMs, remark: "skipped_hour" };
    span = next;
  }
}

/** Whether clocks show the time again after a change. */
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

/** Local mean time has seconds, stored as fractions of minutes. */
function offsetMsOf({ offsetMinutes }: { readonly offsetMinutes: number }): number {
  return Math.round(offsetMinutes * 60_000);
}
