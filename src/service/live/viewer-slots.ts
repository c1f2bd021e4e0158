import { Semaphore } from "../../lib/schedule/semaphore.ts";
import type { AppId } from "../../model/ids.ts";

/** Viewers of one key, so that a program that leaks streams leaves room for others. */
const OF_KEY_MAX = 64;
/** Viewers of one share link, which many people open at once. */
const OF_VIEW_KEY_MAX = 512;

/** A client that opens a stream. */
export interface Listener {
  readonly appId: AppId;
  readonly keyId: string;
  /** Whether the key is a share link's. */
  readonly isView: boolean;
}

/** Limits viewers: in all, of an app, of a key. No client waits for a slot. */
export class ViewerSlots {
  readonly max: number;
  readonly #apps: Semaphore<AppId>;
  readonly #keys = ofKeys(OF_KEY_MAX);
  readonly #viewKeys = ofKeys(OF_VIEW_KEY_MAX);

  constructor(viewersMax: number) {
    this.max = viewersMax;
    this.#apps = new Semaphore(viewersMax, { runningOfOwnerMax: Math.ceil(viewersMax / 2), waitingMax: 0 });
  }

  get inUse(): number {
    return this.#apps.running;
  }

  /** Returns a function that frees the slot and may be called repeatedly; null if there is no slot. */
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
