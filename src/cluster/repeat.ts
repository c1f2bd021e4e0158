import { pause, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import { StreamError } from "./stream/stream.ts";

const RETRY_MS = 500;

/** Servers that start at the same time have a majority by then. */
const WAIT_MS = 60_000;

const NEVER_STOPPED = new AbortController().signal;

/** Retries a request while the cluster is unreachable, for a minute or until the signal is aborted. */
export async function patiently<Value>(
  ask: () => Promise<Value>,
  onWaiting: (error: unknown) => void,
  signal: AbortSignal = NEVER_STOPPED,
  timers: Timers = systemTimers,
): Promise<Value> {
  const endMs = timers.nowMs() + WAIT_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const isPassing = error instanceof StreamError && error.kind === "unreachable";
      if (!isPassing || signal.aborted || timers.nowMs() >= endMs) throw error;
      onWaiting(error);
      await pause(timers, RETRY_MS, signal);
    }
  }
}

/** Repeats a step with a pause in between; steps never overlap. */
export class Repeated {
  readonly #step: () => Promise<void>;
  readonly #pauseMs: number;
  readonly #timers: Timers;
  #cancel: (() => void) | null = null;
  #running: Promise<void> | null = null;
  #isStopped = false;

  /** `step` must not reject. The first step starts immediately. */
  constructor(step: () => Promise<void>, pauseMs: number, timers: Timers) {
    this.#step = step;
    this.#pauseMs = pauseMs;
    this.#timers = timers;
    this.#run();
  }

  /** Starts a step now, unless one is running. */
  now(): void {
    if (this.#running === null && !this.#isStopped) this.#run();
  }

  /** Waits for a running step. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
    await this.#running;
  }

  #run(): void {
    this.#cancel?.();
    this.#running = this.#step().finally(() => {
      this.#running = null;
      if (!this.#isStopped) this.#cancel = this.#timers.after(this.#pauseMs, () => this.#run());
    });
  }
}
