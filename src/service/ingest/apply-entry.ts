import type { AppliedBatch } from "../../hot/batch-writer.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { LogEntry } from "../../wal/entry/entry.ts";

/** What an entry without reports changed of the records. */
const NO_REPORTS: AppliedBatch = { accepted: 0, duplicates: 0, created: 0, outranked: 0, createdLate: [] };

/** Applies an entry of the log, of any kind, to memory. */
export function applyToMemory(hot: Pick<HotStore, "apply" | "applyStanding">, entry: LogEntry): AppliedBatch {
  if (entry.kind === "reports") return hot.apply(entry.appId, entry.batch, entry.sequence);
  hot.applyStanding(entry, entry.sequence);
  return NO_REPORTS;
}
