import type { ServiceError } from "../model/errors.ts";
import type { IndexedEntry, Segment } from "./segment.ts";

/** What somebody wants gone, and waits for. */
interface Deletion {
  /** Segments that still have any of it. */
  readonly left: Set<Segment>;
  failure: ServiceError | null;
  resolve(failure: ServiceError | null): void;
}

/** Entries on their way out, one segment after the other, whoever wants them gone. */
export class Deletions {
  readonly #bySegment = new Map<Segment, Set<IndexedEntry>>();
  readonly #deletions = new Set<Deletion>();

  get isEmpty(): boolean {
    return this.#bySegment.size === 0;
  }

  /** Resolves once these segments were written without these entries, with what went wrong. */
  add(segments: ReadonlyMap<Segment, Iterable<IndexedEntry>>): Promise<ServiceError | null> {
    if (segments.size === 0) return Promise.resolve(null);
    for (const [segment, entries] of segments) {
      const doomed = this.#bySegment.get(segment) ?? new Set();
      for (const entry of entries) doomed.add(entry);
      this.#bySegment.set(segment, doomed);
    }
    return new Promise((resolve) => {
      this.#deletions.add({ left: new Set(segments.keys()), failure: null, resolve });
    });
  }

  /** The next segment, and what is to go from it; what is added from now on is another turn's. */
  take(): { readonly segment: Segment; readonly doomed: ReadonlySet<IndexedEntry>; settle: Settle } {
    const [segment, doomed] = this.#bySegment.entries().next().value!;
    this.#bySegment.delete(segment);
    const waiting = [...this.#deletions].filter(({ left }) => left.delete(segment));
    const settle = (failure: ServiceError | null) => {
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
