import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { AppId } from "../../model/ids.ts";

/** How many viewers one key may have, so that a program that opens streams and forgets them leaves room for others. */
const OF_KEY_MAX = 64;
/** How many viewers one share link may have: many people open it at once. */
const OF_VIEW_KEY_MAX = 512;

/** Wants to listen. */
export interface Listener {
  readonly appId: AppId;
  readonly keyId: string;
  /** Whether the key is a share link's. */
  readonly isView: boolean;
}

/** How many viewers may listen at once: in all, of an app, of a key. No listener waits for a slot. */
export class ViewerSlots {
  readonly max: number;
  readonly #apps: Semaphore<AppId>;
  readonly #keys = ofKeys(OF_KEY_MAX);
  readonly #viewKeys = ofKeys(OF_VIEW_KEY_MAX);

  constructor(viewersMax: number) {
    this.max = viewersMax;
    this.#apps = new Semaphore(viewersMax, { runningOfOwnerMax: Math.ceil(viewersMax / 2), waitingMax: 0 });
  }

  get taken(): number {
    return this.#apps.running;
  }

  /** Returns what frees the slot, however often it is called; null if there is no slot. */
  take({ appId, keyId, isView }: Listener): (() => void) | null {
    const keys = isView ? this.#viewKeys : this.#keys;
    if (this.#apps.enter(appId) === "refused") return null;
    if (keys.enter(keyId) === "refused") {
      this.#apps.leave(appId);
      return null;
    }
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      keys.leave(keyId);
      this.#apps.leave(appId);
    };
  }
}

function ofKeys(runningOfOwnerMax: number): Semaphore {
  return new Semaphore(Number.POSITIVE_INFINITY, { runningOfOwnerMax, waitingMax: 0 });
}
