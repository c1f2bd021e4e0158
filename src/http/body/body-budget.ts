import { type Holder, SharedPool } from "../../lib/schedule/shared-pool.ts";
import { systemTimers, type Timers } from "../../lib/schedule/timers.ts";

/**
 * Requests with reports that are under way and the memory of their bodies, all together: what many slow or large ones
 * take stays bounded, and none of it is one key's or one app's alone.
 */
export interface BodyBudget {
  /** Lets a request in; null where as many are under way as may be, of all or of this key or app. */
  begin(holder: Holder): BodyShare | null;
  readonly requests: number;
  readonly requestsMax: number;
  /** Of bodies and parts of them that have arrived, and of what they were unpacked to. */
  readonly bytes: number;
  readonly bytesMax: number;
  /** Apps with requests under way. */
  readonly apps: number;
  /** Since the start, by what was spent. */
  readonly refused: { readonly requests: number; readonly bytes: number };
}

/** What one request takes of the budget. */
export interface BodyShare {
  readonly holder: Holder;
  /** How long its body may take to arrive. */
  readonly arrivalMsMax: number;
  /** Calls once that time is over, unless the function that it returns is called before. */
  whenLate(call: () => void): () => void;
  /** Takes more; false where there is not as much left for it or the share has ended, and then nothing is taken. */
  take(bytes: number): boolean;
  /**
   * Reads a body at once that has yet to arrive: so much memory is set aside for it, from a pool of its own that
   * silence can't take from those whose bytes come. Null where that has no room, and then nothing is read.
   */
  whole(bytes: number, read: () => Promise<Uint8Array>): Promise<Uint8Array> | null;
  /** Gives back all of it, once. */
  end(): void;
}

export interface BodyBudgetLimits {
  readonly requestsMax: number;
  readonly bytesMax: number;
  /** Of bodies that are read at once, and have not arrived. */
  readonly expectedBytesMax: number;
  readonly arrivalMsMax: number;
}

export function createBodyBudget(limits: BodyBudgetLimits, timers: Timers = systemTimers): BodyBudget {
  const { requestsMax, bytesMax, arrivalMsMax } = limits;
  const requests = new SharedPool(requestsMax);
  const bytes = new SharedPool(bytesMax);
  const expected = new SharedPool(limits.expectedBytesMax);
  const refused = { requests: 0, bytes: 0 };

  function createShare(holder: Holder): BodyShare {
    let taken = 0;
    let isEnded = false;
    return {
      holder,
      arrivalMsMax,
      whenLate: (call) => timers.after(arrivalMsMax, call),
      take(more) {
        if (isEnded) return false;
        if (!bytes.take(holder, more)) {
          refused.bytes++;
          return false;
        }
        taken += more;
        return true;
      },
      whole(size, read) {
        if (!expected.take(holder, size)) return null;
        return read().finally(() => expected.give(holder, size));
      },
      end() {
        isEnded = true;
        requests.give(holder, 1);
        bytes.give(holder, taken);
      },
    };
  }

  return {
    requestsMax,
    bytesMax,
    refused,
    get requests() {
      return requests.taken;
    },
    get bytes() {
      return bytes.taken;
    },
    get apps() {
      return requests.apps;
    },
    begin(holder) {
      if (requests.take(holder, 1)) return createShare(holder);
      refused.requests++;
      return null;
    },
  };
}
