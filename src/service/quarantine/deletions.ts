import type { ServiceError } from "../../model/errors.ts";
import type { IndexedEntry, Segment } from "./segment.ts";

/** A request for deletion, with a waiting caller. */
interface Deletion {
  /** Segments that still have one of its entries. */
  readonly left: Set<Segment>;
  failure: ServiceError | null;
  resolve(failure: ServiceError | null): void;
}

/** The entries that are deleted from a segment in one step. */
interface Turn {
  readonly segment: Segment;
  readonly doomed: Set<IndexedEntry>;
  /** Resolves once they are deleted, or the deletion failed. */
  readonly over: PromiseWithResolvers<void>;
}

/** Entries that are being deleted for any caller, one segment after the other. */
export class Deletions {
  readonly #turns = new Map<Segment, Turn>();
  readonly #deletions = new Set<Deletion>();
  #underWay: Turn | null = null;

  get isEmpty(): boolean {
    return this.#turns.size === 0;
  }

  /** Resolves once an entry's deletion has ended, successfully or not; null if it is not being deleted. */
  leaving(entry: IndexedEntry): Promise<void> | null {
    const turns = [this.#underWay, this.#turns.get(entry.segment)];
    return turns.find((turn) => turn?.doomed.has(entry))?.over.promise ?? null;
  }

  /** Resolves once these segments are rewritten without these entries, with the error if there was one. */
  add(segments: ReadonlyMap<Segment, Iterable<IndexedEntry>>): Promise<ServiceError | null> {
    if (segments.size === 0) return Promise.resolve(null);
    for (const [segment, entries] of segments) {
      const fresh = { segment, doomed: new Set<IndexedEntry>(), over: Promise.withResolvers<void>() };
      const turn = this.#turns.get(segment) ?? fresh;
      for (const entry of entries) turn.doomed.add(entry);
      this.#turns.set(segment, turn);
    }
    return new Promise((resolve) => {
      this.#deletions.add({ left: new Set(segments.keys()), failure: null, resolve });
    });
  }

  /** The next segment and its entries to delete; those that are added later are deleted in another step. */
  take(): { readonly segment: Segment; readonly doomed: ReadonlySet<IndexedEntry>; settle: Settle } {
    const turn = this.#turns.values().next().value!;
    const { segment, doomed, over } = turn;
    this.#turns.delete(segment);
    this.#underWay = turn;
    const waiting = [...this.#deletions].filter(({ left }) => left.delete(segment));
    const settle = (failure: ServiceError | null) => {
      this.#underWay = null;
      over.resolve();
      for (const deletion of waiting) this.#settle(deletion, failure);
    };
    return { segment, doomed, settle };
  }

  #settle(deletion: Deletion, failure: ServiceError | null): void {
    deletion.failure ??= failure;
    if (deletion.left.size > 0) return;
    this.#deletions.delete(deletion);
    deletion.resolve(deletion.failure);
  }
}

type Settle = (failure: ServiceError | null) => void;
