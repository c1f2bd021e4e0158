import { assert } from "../assert.ts";
import { FairQueue } from "./fair-queue.ts";
import type { MaybePromise } from "./maybe-promise.ts";

// Limits how much work runs at the same time. The rest waits: the work of one owner in order, owners by turns. If the
// queue is full, the owner with the most waiting work gives way to an owner with less.

export interface SemaphoreBounds {
  /** The most weight of one owner's running work; defaults to all of it. */
  readonly runningOfOwnerMax?: number;
  /** The most works that may wait; defaults to any number. */
  readonly waitingMax?: number;
}

/** Work that waits to run. */
export interface Entrant {
  /** Its share of the semaphore; defaults to 1. Work heavier than an owner's share runs as its owner's only work. */
  readonly weight?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** Whether the work runs, alone or beside other work of its owner, or was refused because too much waits. */
export type Admission = "alone" | "beside" | "refused";

interface Waiting {
  readonly weight: number;
  resolve(admission: Admission): void;
}

export class Semaphore<Owner = string> {
  readonly #runningMax: number;
  readonly #runningOfOwnerMax: number;
  readonly #waitingMax: number;
  readonly #runningOf = new Map<Owner, number>();
  readonly #queue = new FairQueue<Owner, Waiting>();
  readonly #mayBegin = (owner: Owner, { weight }: Pick<Waiting, "weight">) => this.#hasRoomFor(owner, weight);
  #running = 0;

  constructor(
    runningMax: number,
    { runningOfOwnerMax = runningMax, waitingMax = Number.POSITIVE_INFINITY }: SemaphoreBounds = {},
  ) {
    this.#runningMax = runningMax;
    this.#runningOfOwnerMax = runningOfOwnerMax;
    this.#waitingMax = waitingMax;
  }

  /** The weight of all running work. */
  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Runs the work as soon as it is admitted. The semaphore must not limit how many may wait. */
  async run<Value>(owner: Owner, work: () => Promise<Value>): Promise<Value> {
    const entered = this.enter(owner);
    const admission = entered instanceof Promise ? await entered : entered;
    assert(admission !== "refused", "any number may wait");
    try {
      return await work();
    } finally {
      this.leave(owner);
    }
  }

  /**
   * Admits work immediately, or as soon as others leave. Admitted work must call `leave()`. Rejects with the signal's
   * reason if it aborts before.
   */
  enter(owner: Owner, { weight = 1, signal }: Entrant = {}): MaybePromise<Admission> {
    if (this.#queue.countOf(owner) === 0 && this.#hasRoomFor(owner, weight))
      return this.#begin(owner, weight);
    return this.#makeRoom(owner) ? this.#wait(owner, weight, signal) : "refused";
  }

  leave(owner: Owner, weight = 1): void {
    this.#running -= weight;
    const rest = this.#runningOf.get(owner)! - weight;
    if (rest === 0) this.#runningOf.delete(owner);
    else this.#runningOf.set(owner, rest);
    this.#admit();
  }

  /** Refuses all waiting work of the owner. */
  turnAway(owner: Owner): void {
    for (let next = this.#queue.takeOf(owner); next !== null; next = this.#queue.takeOf(owner))
      next.resolve("refused");
  }

  /** Admits waiting work that fits, owners by turns. */
  #admit(): void {
    for (
      let next = this.#queue.take(this.#mayBegin);
      next !== null;
      next = this.#queue.take(this.#mayBegin)
    ) {
      const [of, waiting] = next;
      // Counts as running now, before the promise's caller continues, or others could enter meanwhile.
      waiting.resolve(this.#begin(of, waiting.weight));
    }
  }

  #hasRoomFor(owner: Owner, weight: number): boolean {
    const ofOwner = this.#runningOf.get(owner) ?? 0;
    if (this.#running + weight > this.#runningMax) return false;
    return ofOwner === 0 || ofOwner + weight <= this.#runningOfOwnerMax;
  }

  #begin(owner: Owner, weight: number): Admission {
    const before = this.#runningOf.get(owner) ?? 0;
    this.#running += weight;
    this.#runningOf.set(owner, before + weight);
    return before === 0 ? "alone" : "beside";
  }

  /** Whether the owner's work may wait, if need be in place of another owner's. */
  #makeRoom(owner: Owner): boolean {
    if (this.#queue.size < this.#waitingMax) return true;
    const longest = this.#queue.lastOfLongest();
    if (longest === null || this.#queue.countOf(longest[0]) <= this.#queue.countOf(owner) + 1) return false;
    this.#queue.delete(...longest);
    longest[1].resolve("refused");
    return true;
  }

  #wait(owner: Owner, weight: number, signal: AbortSignal | undefined): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        weight,
        resolve(admission) {
          signal?.removeEventListener("abort", leave);
          resolve(admission);
        },
      };
      const leave = () => {
        this.#queue.delete(owner, waiting);
        reject(signal?.reason);
        this.#admit(); // Lighter work of the owner may have waited behind it.
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#queue.add(owner, waiting);
    });
  }
}

/**
 * Works on items in parallel, at most `atOnceMax` at a time, in their order. After a failure no more are begun; the
 * call rejects with the first failure once all that are running have ended.
 */
export async function forEachAtOnce<Item>(
  items: readonly Item[],
  atOnceMax: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let next = 0;

  async function workOn(): Promise<void> {
    while (next < items.length && failures.length === 0) {
      try {
        await work(items[next++]!);
      } catch (error) {
        failures.push(error);
      }
    }
  }

  await Promise.all(Array.from({ length: Math.min(atOnceMax, items.length) }, workOn));
  if (failures.length > 0) throw failures[0];
}
