import type { Timers } from "../../../src/lib/schedule/timers.ts";
import { turns } from "../turns.ts";

interface Call {
  readonly atMs: number;
  /** Of calls of the same instant the one that was asked for first comes first. */
  readonly order: number;
  readonly call: () => void;
}

/** Turns of the event loop in which nothing happens, after which nothing ever will. */
const STILL_TURNS_MAX = 100;

/** A time that passes only while somebody waits for something, from one call to the next and never in between. */
export class VirtualTime implements Timers {
  readonly #stillMsMax: number;
  #nowMs = 0;
  #order = 0;
  #calls: Call[] = [];

  /** What is waited for may take so long of the real time, where it does what needs that. */
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

  /** Calls that are still to come. */
  get planned(): number {
    return this.#calls.length;
  }

  /** Lets time pass until this is settled. Throws where it never will be, or not within so long. */
  async until<Value>(work: Promise<Value>, withinMs = 3_600_000): Promise<Value> {
    const endMs = this.#nowMs + withinMs;
    let isSettled = false;
    const noted = work.finally(() => {
      isSettled = true;
    });
    noted.catch(() => undefined); // Whoever waits for `work` hears of it.
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

  /** Lets this much time pass: makes each call that is due meanwhile, and lets the work end that it starts. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await turns();
    while ((this.#next()?.atMs ?? Infinity) <= endMs) {
      this.step();
      await turns();
    }
    this.#nowMs = endMs;
  }

  /** Lets time pass up to the next call, and does that; false where none is to come. */
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
