import { assert } from "../assert.ts";
import { FairQueue } from "./fair-queue.ts";

/*
 * Lets so many pieces of work run at once; the others wait, each owner's in their order and owners by turns. Where no
 * more can wait, the owner with the most that wait gives way to one with fewer.
 */

export interface SemaphoreBounds {
  /** Of one owner's; left out, one owner may have all that run. */
  readonly runningOfOwnerMax?: number;
  /** Left out, any number may wait. */
  readonly waitingMax?: number;
}

/** Tells who waits that it runs now, or never will. */
type Settle = (mayRun: boolean) => void;

export class Semaphore<Owner = string> {
  readonly #runningMax: number;
  readonly #runningOfOwnerMax: number;
  readonly #waitingMax: number;
  readonly #runningOf = new Map<Owner, number>();
  readonly #queue = new FairQueue<Owner, Settle>();
  readonly #hasShare = (owner: Owner) => (this.#runningOf.get(owner) ?? 0) < this.#runningOfOwnerMax;
  #running = 0;

  constructor(runningMax: number, { runningOfOwnerMax = runningMax, waitingMax }: SemaphoreBounds = {}) {
    this.#runningMax = runningMax;
    this.#runningOfOwnerMax = runningOfOwnerMax;
    this.#waitingMax = waitingMax ?? Number.POSITIVE_INFINITY;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Does the work as soon as it may run. For a semaphore that lets any number wait. */
  async run<Value>(owner: Owner, work: () => Promise<Value>): Promise<Value> {
    const entered = this.enter(owner);
    if (entered !== true) assert(await entered, "whoever may wait gets a turn");
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /**
   * True where the owner's work may run, at once or as soon as others leave; false where too many wait. What may run
   * has to leave. Rejects with the signal's reason where it comes first.
   */
  enter(owner: Owner, signal?: AbortSignal): true | Promise<boolean> {
    if (this.#running < this.#runningMax && this.#hasShare(owner)) {
      this.#begin(owner);
      return true;
    }
    return this.#makeRoom(owner) ? this.#wait(owner, signal) : Promise.resolve(false);
  }

  leave(owner: Owner): void {
    this.#running--;
    const left = this.#runningOf.get(owner)! - 1;
    if (left === 0) this.#runningOf.delete(owner);
    else this.#runningOf.set(owner, left);
    const next = this.#queue.take(this.#hasShare);
    if (next === null) return;
    this.#begin(next[0]); // At once, or somebody else ran in its place before its promise is heard.
    next[1](true);
  }

  #begin(owner: Owner): void {
    this.#running++;
    this.#runningOf.set(owner, (this.#runningOf.get(owner) ?? 0) + 1);
  }

  /** Whether there is room to wait, which another owner may have to make. */
  #makeRoom(owner: Owner): boolean {
    if (this.#queue.size < this.#waitingMax) return true;
    const longest = this.#queue.lastOfLongest();
    if (longest === null || this.#queue.countOf(longest[0]) <= this.#queue.countOf(owner) + 1) return false;
    this.#queue.delete(...longest);
    longest[1](false);
    return true;
  }

  #wait(owner: Owner, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const settle: Settle = (mayRun) => {
        signal?.removeEventListener("abort", leave);
        resolve(mayRun);
      };
      const leave = () => {
        this.#queue.delete(owner, settle);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#queue.add(owner, settle);
    });
  }
}
