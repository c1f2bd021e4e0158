import type { Watch } from "./watch.ts";
import type { WatchState } from "./watch-state.ts";

/**
 * From when on a device may still get events that its next records decide, or their absence; Infinity if those events
 * have the times of these records. `state` is that after its last record.
 */
export function undecidedFromMs({ versions, deletedMs }: Watch, { last, run, visit }: WatchState): number {
  if (last === null) return Infinity;
  // A device that fell silent leaves then, unless its next records are inside.
  const fromMs = Math.min(run?.first.timestampMs ?? Infinity, visit?.silentMs ?? Infinity);
  let silenceMs = Infinity;
  if (versions.length > 1 || deletedMs !== null) silenceMs = 0;
  for (const { condition, schedule } of versions) {
    if (condition.kind === "silent_for") silenceMs = 0;
    else if (visit !== null && schedule !== null) silenceMs = 0;
    else if (visit !== null && condition.kind === "area" && condition.silenceMs !== null)
      silenceMs = Math.min(silenceMs, condition.silenceMs);
  }
  return Math.min(fromMs, last.timestampMs + silenceMs);
}
