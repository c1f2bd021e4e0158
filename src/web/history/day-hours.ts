import type { LocalDay, TimeRange } from "../time/local-day.ts";
import { hoursOf } from "../time/local-day.ts";
import type { Track } from "./track.ts";

/** An hour that clocks show, and what the track has of it. */
export interface DayHour extends TimeRange {
  /** Positions of the track. */
  readonly positions: number;
  /** Along the lines that lead to them. */
  readonly meters: number;
}

/** All hours of a day: 23 or 25 of them where clocks change. */
export function dayHours(track: Track, day: LocalDay, zone: string): readonly DayHour[] {
  let index = 0;
  return hoursOf(day, zone).map((hour) => {
    const first = index;
    let meters = 0;
    for (; index < track.count && track.timestampMs[index]! < hour.endMs; index++)
      if (track.isJoined(index)) meters += track.metersTo(index);
    return { ...hour, positions: index - first, meters };
  });
}
