import type { ServiceError } from "../../model/errors.ts";
import type { IndexedEntry, Segment } from "./segment.ts";

/** What somebody wants gone, and waits for. */
interface Deletion {
  /** Segments that still have any of it. */
  readonly left: Set<Segment>;
  failure: ServiceError | null;
  resolve(failure: ServiceError | null): void;
}

/** What is to go from a segment at once. */
interface Turn {
  readonly segment: Segment;
  readonly doomed: Set<IndexedEntry>;
  /** Resolves once it is gone, or could not be taken out. */
  readonly over: PromiseWithResolvers<void>;
}

/** Entries on their way out, one segment after the other, whoever wants them gone. */
export class Deletions {
  readonly #turns = new Map<Segment, Turn>();
  readonly #deletions = new Set<Deletion>();
  #underWay: Turn | null = null;

  get isEmpty(): boolean {
    return this.#turns.size === 0;
  }

  /** Resolves once an entry that is on its way out is gone, or stays; null for any other. */
  leaving(entry: IndexedEntry): Promise<void> | null {
    const turns = [this.#underWay, this.#turns.get(entry.segment)];
    return turns.find((turn) => turn?.doomed.has(entry))?.over.promise ?? null;
  }

  /** Resolves once these segments were written without these entries, with what went wrong. */
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

  /** The next segment, and what is to go from it; what is added from now on is another turn's. */
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
