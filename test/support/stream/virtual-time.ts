import type { Timers } from "../../../src/lib/schedule/timers.ts";
import { turns } from "../turns.ts";

interface Call {
  readonly atMs: number;
  /** Calls of the same instant run in the order of their creation. */
  readonly order: number;
  readonly call: () => void;
}

/** After this many turns of the event loop without a change, nothing will happen. */
const STILL_TURNS_MAX = 100;

/** A virtual time that advances only during a wait, from one call to the next. */
export class VirtualTime implements Timers {
  readonly #stillMsMax: number;
  #nowMs = 0;
  #order = 0;
  #calls: Call[] = [];

  /** `stillMsMax` is how long awaited work may take in real time. */
  constructor(stillMsMax = 0) {
    this.#stillMsMax = stillMsMax;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  after(ms: number, call: () => void): () => void {
    const planned = { atMs: this.#nowMs + ms, order: this.#order++, call };
    this.#calls.push(planned);
    return () => {
      this.#calls = this.#calls.filter((other) => other !== planned);
    };
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** The number of planned calls. */
  get planned(): number {
    return this.#calls.length;
  }

  /** Advances time until the promise is settled. Throws if it never is, or not within `withinMs`. */
  async until<Value>(work: Promise<Value>, withinMs = 3_600_000): Promise<Value> {
    const endMs = this.#nowMs + withinMs;
    let isSettled = false;
    const noted = work.finally(() => {
      isSettled = true;
    });
    noted.catch(() => undefined); // The caller handles the rejection.
    let stillTurns = 0;
    let stillSinceMs = performance.now();
    for (;;) {
      await turn();
      if (isSettled) return work;
      if (this.step()) {
        stillTurns = 0;
        stillSinceMs = performance.now();
      } else if (++stillTurns > STILL_TURNS_MAX && performance.now() - stillSinceMs >= this.#stillMsMax)
        throw new Error("nothing is under way, and what is waited for never comes");
      if (this.#nowMs > endMs) throw new Error(`what is waited for has not come within ${withinMs} ms`);
    }
  }

  /** Advances time by this much, runs the calls that are due, and lets their work end. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await turns();
    while ((this.#next()?.atMs ?? Infinity) <= endMs) {
      this.step();
      await turns();
    }
    this.#nowMs = endMs;
  }

  /** Advances time to the next call and runs it; false if there is none. */
  step(): boolean {
    const next = this.#next();
    if (next === null) return false;
    this.#calls = this.#calls.filter((other) => other !== next);
    this.#nowMs = Math.max(this.#nowMs, next.atMs);
    next.call();
    return true;
  }

  #next(): Call | null {
    return this.#calls.reduce<Call | null>((first, each) => (isBefore(first, each) ? first : each), null);
  }
}

function isBefore(first: Call | null, other: Call): boolean {
  if (first === null) return false;
  return first.atMs < other.atMs || (first.atMs === other.atMs && first.order < other.order);
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
