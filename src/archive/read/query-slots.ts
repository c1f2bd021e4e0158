import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";

/**
 * Lets a number of queries run at once and a number wait. Apps take turns; one slot is never the same app's as
 * all the others; and where no more can wait, the app with the most waiting queries gives way to one with fewer.
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

const QUEUE_FULL: ServiceError = {
  kind: "unavailable",
  message: "too many questions are waiting for the archive; ask again shortly",
  retryAfterSeconds: 1, // A slot is mostly free again after some milliseconds; a long query takes seconds.
};

export function createQuerySlots(runningMax: number, waitingMax: number): QuerySlots {
  const slots = new Semaphore<AppId>(runningMax, {
    runningOfOwnerMax: Math.max(1, runningMax - 1),
    waitingMax,
  });
  return {
    async run(appId, signal, work) {
      signal.throwIfAborted();
      if ((await slots.enter(appId, { signal })) === "refused") return fail(QUEUE_FULL);
      try {
        return ok(await work());
      } finally {
        slots.leave(appId);
      }
    },
    get running() {
      return slots.running;
    },
    get waiting() {
      return slots.waiting;
    },
  };
}
