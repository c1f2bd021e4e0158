import { fail, ok, type Result } from "../../lib/result.ts";
import { FairQueue } from "../../lib/schedule/fair-queue.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";

/**
 * Lets a number of questions run at once and a number wait. Apps take turns; one slot is never the same app's as
 * all the others; and where no more can wait, the app with the most waiting questions gives way to one with fewer.
 */
export interface QuerySlots {
  /**
   * Runs the work as soon as a slot is free; fails where too many wait. Rejects with an `AbortError` where the
   * signal comes while it waits.
   */
  run<Value>(
    appId: AppId,
    signal: AbortSignal,
    work: () => Promise<Value>,
  ): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
}

/** A slot is mostly free again after some milliseconds; a long question takes seconds. */
const RETRY_AFTER_SECONDS = 1;

/** Tells who waits that it runs now, or never will. */
type Settle = (mayRun: boolean) => void;

export function createQuerySlots(runningMax: number, waitingMax: number): QuerySlots {
  const runningOfAppMax = Math.max(1, runningMax - 1);
  const runningOf = new Map<AppId, number>();
  const queue = new FairQueue<AppId, Settle>();
  let running = 0;

  const mayRun = (appId: AppId) => (runningOf.get(appId) ?? 0) < runningOfAppMax;

  function begin(appId: AppId): void {
    running++;
    runningOf.set(appId, (runningOf.get(appId) ?? 0) + 1);
  }

  function end(appId: AppId): void {
    running--;
    const left = runningOf.get(appId)! - 1;
    if (left === 0) runningOf.delete(appId);
    else runningOf.set(appId, left);
    const next = queue.take(mayRun);
    if (next === null) return;
    begin(next[0]); // At once, or somebody else took the slot before its promise is heard.
    next[1](true);
  }

  /** Whether there is room to wait, which another app may have to make. */
  function makeRoom(appId: AppId): boolean {
    if (queue.size < waitingMax) return true;
    const longest = queue.lastOfLongest();
    if (longest === null || queue.countOf(longest[0]) <= queue.countOf(appId) + 1) return false;
    queue.delete(...longest);
    longest[1](false);
    return true;
  }

  /** Resolves once it has a slot, or with false where it is given up. */
  function turn(appId: AppId, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const settle: Settle = (mayRun) => {
        signal.removeEventListener("abort", leave);
        resolve(mayRun);
      };
      const leave = () => {
        queue.delete(appId, settle);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave, { once: true });
      queue.add(appId, settle);
    });
  }

  return {
    async run(appId, signal, work) {
      signal.throwIfAborted();
      if (running < runningMax && mayRun(appId)) begin(appId);
      else if (!makeRoom(appId) || !(await turn(appId, signal))) {
        const message = "too many questions are waiting for the archive; ask again shortly";
        return fail({ kind: "unavailable", message, retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      try {
        return ok(await work());
      } finally {
        end(appId);
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
  };
}
