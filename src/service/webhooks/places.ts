import type { SavedCursor } from "../../model/webhooks/delivery.ts";
import type { Webhook } from "../../model/webhooks/webhook.ts";
import type { Subscription } from "./subscription.ts";

/** A webhook that is sent events. */
export interface Lane {
  webhook: Webhook;
  readonly subscription: Subscription;
  readonly ending: AbortController;
  /** What the database says. */
  saved: SavedCursor | null;
}

/** Requests of one kind, and the lanes that may have one to send, in the order of their turns. */
export class Places {
  readonly ready = new Set<Lane>();
  running = 0;
  readonly #runningMax: number;

  constructor(runningMax: number) {
    this.#runningMax = runningMax;
  }

  /** Whether a lane waits, and there is room for its request. */
  get hasNext(): boolean {
    return this.ready.size > 0 && this.running < this.#runningMax;
  }

  /** The next lane if there is room for a request. */
  take(): Lane | null {
    if (!this.hasNext) return null;
    for (const lane of this.ready) {
      this.ready.delete(lane);
      return lane;
    }
    return null;
  }
}
