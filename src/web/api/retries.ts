import { browserTimers, type Timers } from "../time/timers.ts";
import { ApiError } from "./api-error.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/**
 * The pause before the next attempt. It doubles with each failure, up to half a minute, minus a random part of up to
 * half, so that pages do not all return together after a restart. It is never shorter than `Retry-After`.
 */
export function backoffMs(
  failures: number,
  retryAfterSeconds: number | null,
  random = Math.random(),
): number {
  const longestMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.max((retryAfterSeconds ?? 0) * 1000, longestMs * (0.5 + random / 2));
}

export interface AskOptions {
  /** Aborts the attempts. */
  readonly signal: AbortSignal;
  /** Called before each pause, with the failure and the time of the next attempt (Unix ms). */
  readonly onPause: (error: ApiError, retryAtMs: number) => void;
}

/** All requests that wait for their next attempt. `wake` ends all pauses. */
export class Retries {
  readonly #pauseMs: typeof backoffMs;
  readonly #timers: Timers;
  readonly #waiting = new Set<() => void>();

  constructor(pauseMs: typeof backoffMs = backoffMs, timers: Timers = browserTimers) {
    this.#pauseMs = pauseMs;
    this.#timers = timers;
  }

  /**
   * Repeats a request until it succeeds. Throws on a refusal (`isRefusal`), on an error that is not an `ApiError`, or
   * if the signal is aborted.
   */
  async ask<Answer>(ask: () => Promise<Answer>, { signal, onPause }: AskOptions): Promise<Answer> {
    for (let failures = 1; ; failures++) {
      try {
        return await ask();
      } catch (error) {
        if (signal.aborted || !(error instanceof ApiError) || error.isRefusal) throw error;
        await this.pause(failures, error.retryAfterSeconds, signal, (retryAtMs) => onPause(error, retryAtMs));
        signal.throwIfAborted();
      }
    }
  }

  /** Resolves at the time of the next attempt, or immediately on `wake()` or abort. */
  async pause(
    failures: number,
    retryAfterSeconds: number | null,
    signal: AbortSignal,
    onPause: (retryAtMs: number) => void,
  ): Promise<void> {
    const ms = this.#pauseMs(failures, retryAfterSeconds);
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => resolve();
    const stopTimer = this.#timers.after(ms, end);
    this.#waiting.add(end);
    signal.addEventListener("abort", end);
    onPause(Date.now() + ms);
    await promise;
    stopTimer();
    this.#waiting.delete(end);
    signal.removeEventListener("abort", end); // The live stream's signal outlives many pauses.
  }

  /** Called when the live stream or the network is back, or when the user wants to retry. */
  wake(): void {
    for (const end of this.#waiting) end();
  }
}
