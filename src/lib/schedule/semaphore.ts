import { assert } from "../assert.ts";
import { FairQueue } from "./fair-queue.ts";
import type { MaybePromise } from "./maybe-promise.ts";

/*
 * Bounds how much work runs at once. The rest waits: each owner's work in its order, owners by turns. If no more may
 * wait, the owner with the most waiting work gives way to an owner with less.
 */

export interface SemaphoreBounds {
  /** The weight that one owner's work may have; defaults to all of it. */
  readonly runningOfOwnerMax?: number;
  /** How many pieces of work may wait; defaults to any number. */
  readonly waitingMax?: number;
}

/** Work that wants to run. */
export interface Entrant {
  /** How much of the semaphore it takes; 1 by default. Work heavier than an owner's share runs as its only work. */
  readonly weight?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
}

/** The work runs (with others of its owner, or as its owner's only work), or it never will: too much waits already. */
export type Admission = "alone" | "beside" | "refused";

interface Waiting {
  readonly weight: number;
  settle(admission: Admission): void;
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

  /** The weight of all that runs. */
  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.size;
  }

  /** Does the work as soon as it may run. For a semaphore that lets any number wait. */
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
   * Admits the owner's work at once or as soon as others leave; admitted work has to leave. Rejects with the signal's
   * reason if that comes first.
   */
  enter(owner: Owner, { weight = 1, signal }: Entrant = {}): MaybePromise<Admission> {
    if (this.#queue.countOf(owner) === 0 && this.#hasRoomFor(owner, weight))
      return this.#begin(owner, weight);
    return this.#makeRoom(owner) ? this.#wait(owner, weight, signal) : "refused";
  }

  leave(owner: Owner, weight = 1): void {
    this.#running -= weight;
    const left = this.#runningOf.get(owner)! - weight;
    if (left === 0) this.#runningOf.delete(owner);
    else this.#runningOf.set(owner, left);
    this.#admit();
  }

  /** Refuses all work of the owner that waits. */
  turnAway(owner: Owner): void {
    for (let next = this.#queue.takeOf(owner); next !== null; next = this.#queue.takeOf(owner))
      next.settle("refused");
  }

  /** Begins waiting work that has room, owners by turns. */
  #admit(): void {
    for (
      let next = this.#queue.take(this.#mayBegin);
      next !== null;
      next = this.#queue.take(this.#mayBegin)
    ) {
      const [of, waiting] = next;
      // Begun at once, or others could enter before the promise is heard.
      waiting.settle(this.#begin(of, waiting.weight));
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

  /** Whether there is room to wait, which another owner may have to make. */
  #makeRoom(owner: Owner): boolean {
    if (this.#queue.size < this.#waitingMax) return true;
    const longest = this.#queue.lastOfLongest();
    if (longest === null || this.#queue.countOf(longest[0]) <= this.#queue.countOf(owner) + 1) return false;
    this.#queue.delete(...longest);
    longest[1].settle("refused");
    return true;
  }

  #wait(owner: Owner, weight: number, signal: AbortSignal | undefined): Promise<Admission> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        weight,
        settle(admission) {
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
 * Works on items side by side, at most `atOnceMax` at once, and begins them in their order. Once one has failed, no
 * other is begun; the call rejects with the first failure after everything under way has ended.
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
