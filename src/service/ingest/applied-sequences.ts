import type { View } from "../../auth/view.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { AppId } from "../../model/ids.ts";
import { lastSequenceOf, startOf } from "../live/viewer-filter.ts";

/**
 * The position of memory in the log, and the requests that wait for it to advance. Another node may accept a report,
 * which is visible here once its log entry has arrived here.
 */
export interface AppliedSequences {
  /** Everything up to this entry of the log is visible. */
  readonly current: number;
  /**
   * The last entry that changed something of this app, or of the devices of a view, or 0. Answers show this instead of
   * the current entry, which would reveal how much others report.
   */
  ofApp(appId: AppId, view: View | null): number;
  /** Notes that an entry was applied to memory. Without waiting requests this is one comparison. */
  note(sequence: number): void;
  /** Resolves with true once this entry is visible, or with false if the signal or `close` comes first. */
  waitFor(sequence: number, signal: AbortSignal): Promise<boolean>;
  /** Ends all waits, and those that begin later. */
  close(): void;
}

interface Waiter {
  readonly sequence: number;
  end(isApplied: boolean): void;
}

/** Greater than any entry's sequence. */
const NEVER = Number.POSITIVE_INFINITY;

/** Callers limit how many requests wait. */
export function createAppliedSequences(
  hot: Pick<HotStore, "findApp" | "profiles" | "visibleSequence" | "watchApplied">,
): AppliedSequences {
  const waiters = new Set<Waiter>();
  /** The least sequence that a request waits for. */
  let nextSequence = NEVER;
  let isClosed = false;

  function note(sequence: number): void {
    if (sequence >= nextSequence) endThose(sequence);
  }

  function endThose(sequence: number): void {
    for (const waiter of waiters) if (waiter.sequence <= sequence) waiter.end(true);
    findNext();
  }

  function findNext(): void {
    nextSequence = NEVER;
    for (const waiter of waiters) nextSequence = Math.min(nextSequence, waiter.sequence);
  }

  hot.watchApplied(note);
  return {
    get current() {
      return hot.visibleSequence;
    },
    ofApp(appId, view) {
      const app = hot.findApp(appId);
      return view === null
        ? Math.max(app?.touches.sequence ?? 0, hot.profiles.sequenceOf(appId))
        : lastSequenceOf(app, view.deviceIds, startOf(view));
    },
    note,
    async waitFor(sequence, signal) {
      if (sequence <= hot.visibleSequence) return true;
      if (isClosed || signal.aborted) return false;
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const leave = () => waiter.end(false);
      const waiter: Waiter = {
        sequence,
        end(isApplied) {
          waiters.delete(waiter);
          signal.removeEventListener("abort", leave);
          resolve(isApplied);
        },
      };
      waiters.add(waiter);
      signal.addEventListener("abort", leave);
      nextSequence = Math.min(nextSequence, sequence);
      return promise;
    },
    close() {
      isClosed = true;
      for (const waiter of waiters) waiter.end(false);
    },
  };
}
