import type { AppliedBatch } from "../../hot/batch-writer.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { inOneTurn, type Steps } from "../../lib/schedule/steps.ts";
import type { QuarantineEntry } from "../../model/quarantine-entry.ts";
import type { SharedEntry } from "../../model/standing-entry.ts";
import type { LogEntry } from "../../wal/entry/entry.ts";

/** What an entry without reports changed of the records. */
const NO_REPORTS: AppliedBatch = { accepted: 0, duplicates: 0, created: 0, outranked: 0, createdLate: [] };

/** Records, profiles and the quarantine, as far as entries of the log change them. */
export interface AppliedMemory {
  readonly hot: Pick<HotStore, "apply" | "applyStanding" | "pass">;
  /** Null if nothing is to be known of the quarantine. */
  readonly messages: { apply(entry: QuarantineEntry, sequence: number): void } | null;
  /** Null if this process is no node of a cluster. */
  readonly shared?: { apply(entry: SharedEntry, sequence: number): void } | null;
}

/** Applies an entry of the log to a memory of what was reported, without corrections. */
export function applyAsReported(memory: AppliedMemory, entry: LogEntry): void {
  if (entry.kind === "correction") memory.hot.pass(entry.sequence);
  else applyToMemory(memory, entry);
}

/** Applies an entry of the log, of any kind, to memory, in one turn. */
export function applyToMemory(memory: AppliedMemory, entry: LogEntry): AppliedBatch {
  return inOneTurn(applyInSteps(memory, entry));
}

/** Applies an entry of the log, of any kind, to memory. No other one may be applied between the steps. */
export function* applyInSteps(
  { hot, messages, shared }: AppliedMemory,
  entry: LogEntry,
): Steps<AppliedBatch> {
  const { sequence } = entry;
  switch (entry.kind) {
    case "reports":
      return hot.apply(entry.appId, entry.batch, sequence);
    case "device_profile":
    case "correction":
    case "erasure":
    case "watch":
    case "watch_clock":
    case "webhook":
      yield* hot.applyStanding(entry, sequence);
      return NO_REPORTS;
    case "events":
    case "deliveries":
      shared?.apply(entry, sequence);
      hot.pass(sequence);
      return NO_REPORTS;
    default:
      messages?.apply(entry, sequence);
      hot.pass(sequence);
      return NO_REPORTS;
  }
}
