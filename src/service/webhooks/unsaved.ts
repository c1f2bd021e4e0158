import type { Delivery, SavedCursor } from "../../model/webhooks/delivery.ts";
import type { Lane } from "./places.ts";

/** Cursors and deliveries that are written at once. */
const SAVE_ROWS_MAX = 200;
/** Requests that are remembered while the disk takes none, some 10 MB. */
const UNSAVED_MAX = 5000;

/** Some of it, in the order in which it is to be kept. */
export interface UnsavedBatch {
  readonly cursors: readonly SavedCursor[];
  readonly deliveries: readonly Delivery[];
  /** It is kept. */
  done(): void;
}

/** What the database does not have yet of requests, and of webhooks that are not sent to any more. */
export class Unsaved {
  #deliveries: Delivery[] = [];
  readonly #left = new Map<string, SavedCursor>();

  /** Returns whether there are many by now. */
  add(delivery: Delivery): boolean {
    this.#deliveries.push(delivery);
    return this.#deliveries.length >= SAVE_ROWS_MAX;
  }

  /** Remembers the place of a webhook that is not sent to any more. */
  leave(cursor: SavedCursor): void {
    this.#left.set(cursor.webhookId, cursor);
  }

  find(webhookId: string): SavedCursor | null {
    return this.#left.get(webhookId) ?? null;
  }

  forget(webhookId: string): void {
    this.#left.delete(webhookId);
  }

  /** The disk takes nothing: the oldest requests are given up, so that memory has room. */
  forgetOldest(): void {
    this.#deliveries = this.#deliveries.slice(-UNSAVED_MAX);
  }

  /** Forgets where webhooks are: another node sends to them. */
  forgetPlaces(): void {
    this.#left.clear();
  }

  /** Some of it, and cursors that moved; null if that was all. */
  next(lanes: Iterable<Lane>): UnsavedBatch | null {
    const changed: (readonly [Lane, SavedCursor])[] = [];
    for (const lane of lanes) {
      const { cursor: seq, failing } = lane.subscription;
      if (lane.saved?.seq === seq && lane.saved.failing === failing) continue;
      changed.push([lane, { webhookId: lane.webhook.id, seq, failing }]);
      if (changed.length === SAVE_ROWS_MAX) break;
    }
    const left = [...this.#left.values()].slice(0, SAVE_ROWS_MAX);
    const deliveries = this.#deliveries.slice(0, SAVE_ROWS_MAX);
    if (changed.length + left.length + deliveries.length === 0) return null;
    return {
      cursors: [...left, ...changed.map(([, cursor]) => cursor)],
      deliveries,
      done: () => {
        for (const [lane, cursor] of changed) lane.saved = cursor;
        for (const cursor of left)
          if (this.#left.get(cursor.webhookId) === cursor) this.#left.delete(cursor.webhookId);
        this.#deliveries = this.#deliveries.slice(deliveries.length);
      },
    };
  }
}
