import type { View } from "../../auth/view.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import type { AppId } from "../../model/ids.ts";
import { lastSequenceOf, startOf } from "../live/viewer-filter.ts";

/**
 * How far memory is, and who waits until it is further. A report may have been taken by another node, and is shown here
 * once its entry of the log has come here too.
 */
export interface AppliedSequences {
  /** Everything up to this entry of the log can be asked for. */
  readonly current: number;
  /**
   * The last entry that changed something of this app, or of the devices of a view, or 0; what came after it up to the
   * current one did not. Who asks about them is told this one: the current one would tell how much others report.
   */
  ofApp(appId: AppId, view: View | null): number;
  /** An entry was laid over memory. Where nobody waits for it this is one comparison. */
  note(sequence: number): void;
  /** Resolves with true once this entry can be asked for, with false where the signal or `close` comes before. */
  waitFor(sequence: number, signal: AbortSignal): Promise<boolean>;
  /** Nobody waits any longer, nor will. */
  close(): void;
}

interface Waiter {
  readonly sequence: number;
  end(isApplied: boolean): void;
}

/** That no entry has, and none that anybody waits for. */
const NEVER = Number.POSITIVE_INFINITY;

/** Callers bound how many wait. */
export function createAppliedSequences(
  hot: Pick<HotStore, "findApp" | "visibleSequence" | "watchApplied">,
): AppliedSequences {
  const waiters = new Set<Waiter>();
  /** The least that anybody waits for. */
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
        ? (app?.touches.sequence ?? 0)
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
