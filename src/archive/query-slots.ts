import { fail, ok, type Result } from "../lib/result.ts";
import type { ServiceError } from "../model/errors.ts";

/** Lets a number of questions run at once and a number wait, first come, first served. */
export interface QuerySlots {
  /**
   * Runs the work as soon as a slot is free; fails at once where too many wait. Rejects with an `AbortError` where
   * the signal comes while it waits.
   */
  run<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Result<Value, ServiceError>>;
  readonly running: number;
  readonly waiting: number;
}

/** A slot is mostly free again after some milliseconds; a long question takes seconds. */
const RETRY_AFTER_SECONDS = 1;

export function createQuerySlots(runningMax: number, waitingMax: number): QuerySlots {
  const queue = new Set<() => void>();
  let running = 0;

  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener("abort", leave);
        queue.delete(enter);
        resolve();
      };
      const leave = () => {
        queue.delete(enter);
        reject(signal.reason);
      };
      signal.addEventListener("abort", leave);
      queue.add(enter);
    });
  }

  return {
    async run(signal, work) {
      signal.throwIfAborted();
      if (running < runningMax) running++;
      else if (queue.size >= waitingMax) {
        const message = "too many questions are waiting for the archive; ask again shortly";
        return fail({ kind: "unavailable", message, retryAfterSeconds: RETRY_AFTER_SECONDS });
      } else {
        await turn(signal); // Who leaves hands the slot over, so it stays counted.
      }
      try {
        return ok(await work());
      } finally {
        const [next] = queue;
        if (next === undefined) running--;
        else next();
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
