import type { Meters } from "../service/metrics/meters.ts";
import type { DirectoryEvents } from "./open-directory.ts";

/** The same events, counted on their way. */
export function meteredEvents(events: DirectoryEvents, meters: Meters): DirectoryEvents {
  const { log, seals, refusals } = meters;
  return {
    ...events,
    onRefusal(refusal) {
      refusals.set(refusal.kind, (refusals.get(refusal.kind) ?? 0) + 1);
      events.onRefusal(refusal);
    },
    onLogWritten({ entries, bytes, syncMs }) {
      log.entries += entries;
      log.writtenBytes += bytes;
      log.syncs.add(syncMs);
    },
    onSealed(report) {
      seals.durations.add(report.durationMs);
      seals.records += report.records;
      events.onSealed(report);
    },
    onSealFailed(error) {
      seals.failed++;
      events.onSealFailed(error);
    },
  };
}
