import { type QuotaOwner, SharedPool } from "../../lib/schedule/shared-pool.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";

/** Limits the number and memory of ingest requests, with a share for each key and app. */
export interface BodyBudget {
  /** Admits a request; null if too many run, in total or of this key or app. */
  begin(owner: QuotaOwner): BodyShare | null;
  readonly requests: number;
  readonly requestsMax: number;
  /** Bytes of bodies that have arrived, in whole or in part, and of their decompressed form. */
  readonly bytes: number;
  readonly bytesMax: number;
  readonly apps: number;
  /** Refusals since the start, by the exhausted limit. */
  readonly refused: { readonly requests: number; readonly bytes: number };
}

export interface BodyShare {
  readonly owner: QuotaOwner;
  /** The time within which its body must arrive. */
  readonly arrivalMsMax: number;
  /** Runs `call` after that time, unless the returned function is called first. */
  whenLate(call: () => void): () => void;
  /** Takes more bytes; false, and takes nothing, if the budget or the share is at its end. */
  take(bytes: number): boolean;
  /**
   * Reads a body of known size in one call. The memory that it will take comes from a separate pool, so that silent
   * clients can't take it from clients that send. Null, and reads nothing, if that pool is exhausted.
   */
  whole(bytes: number, read: () => Promise<Uint8Array>): Promise<Uint8Array> | null;
  /** Returns everything, once. */
  end(): void;
}

export interface BodyBudgetLimits {
  readonly requestsMax: number;
  readonly bytesMax: number;
  /** For bodies that are read in one call and have not arrived. */
  readonly expectedBytesMax: number;
  readonly arrivalMsMax: number;
}

export function createBodyBudget(limits: BodyBudgetLimits, timers: Timers = systemTimers): BodyBudget {
  const { requestsMax, bytesMax, arrivalMsMax } = limits;
  const requests = new SharedPool(requestsMax);
  const bytes = new SharedPool(bytesMax);
  const expected = new SharedPool(limits.expectedBytesMax);
  const refused = { requests: 0, bytes: 0 };

  function createShare(owner: QuotaOwner): BodyShare {
    let heldBytes = 0;
    let isEnded = false;
    return {
      owner,
      arrivalMsMax,
      whenLate: (call) => timers.after(arrivalMsMax, call),
      take(more) {
        if (isEnded) return false;
        if (!bytes.take(owner, more)) {
          refused.bytes++;
          return false;
        }
        heldBytes += more;
        return true;
      },
      whole(size, read) {
        if (!expected.take(owner, size)) return null;
        return read().finally(() => expected.give(owner, size));
      },
      end() {
        isEnded = true;
        requests.give(owner, 1);
        bytes.give(owner, heldBytes);
      },
    };
  }

  return {
    requestsMax,
    bytesMax,
    refused,
    get requests() {
      return requests.used;
    },
    get bytes() {
      return bytes.used;
    },
    get apps() {
      return requests.apps;
    },
    begin(owner) {
      if (requests.take(owner, 1)) return createShare(owner);
      refused.requests++;
      return null;
    },
  };
}
