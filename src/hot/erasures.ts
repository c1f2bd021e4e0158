import type { Erasure, PendingErasure } from "../model/erasure.ts";
import type { AppId } from "../model/ids.ts";

/** An erasure of which files may still have something, and who made it. */
export interface HeldErasure extends Erasure, PendingErasure {}

/**
 * The erasures that are not finished: files may still have what they destroy, and reads of the archive leave it out.
 * They change only by entries of the log and when the archive finishes one, so each start finds the same.
 */
export class Erasures {
  readonly #pending: HeldErasure[] = [];
  #finishedSequence = 0;
  #onAdded = (_erasure: HeldErasure) => {};
  #added = 0;

  /** Sets the listener that is called when an entry of the log adds one. */
  watch(onAdded: (erasure: HeldErasure) => void): void {
    this.#onAdded = onAdded;
  }

  /** All erasures up to this entry of the log are finished. */
  get finishedSequence(): number {
    return this.#finishedSequence;
  }

  /** How many were added since the start. */
  get added(): number {
    return this.#added;
  }

  /** In the order of the log. */
  pending(): readonly HeldErasure[] {
    return this.#pending;
  }

  ofApp(appId: AppId): HeldErasure[] {
    return this.#pending.filter((erasure) => erasure.appId === appId);
  }

  /** Adds the erasure of an entry. False if it is finished: the entry then changes nothing. */
  add(erasure: Erasure, sequence: number): boolean {
    if (sequence <= this.#finishedSequence) return false;
    const added = { ...erasure, sequence };
    this.#pending.push(added);
    this.#added++;
    this.#onAdded(added);
    return true;
  }

  /** Forgets those of a replay that failed. */
  clear(): void {
    this.#pending.length = 0;
  }

  /** All erasures up to this entry of the log are finished. */
  finish(sequence: number): void {
    this.#finishedSequence = Math.max(this.#finishedSequence, sequence);
    const left = this.#pending.filter((erasure) => erasure.sequence > this.#finishedSequence);
    this.#pending.splice(0, this.#pending.length, ...left);
  }
}
