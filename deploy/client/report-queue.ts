import type { Report } from "./answers.ts";
import { type Connection, wait } from "./connection.ts";
import { WherehouseError } from "./failure.ts";

export interface QueueOptions {
  /** Reports in one request, at most (1,000; the server takes 10,000). */
  readonly batch?: number;
  /** How long a report waits for others, in milliseconds (1,000). */
  readonly delayMs?: number;
  /** Reports that were left by a queue before this one. */
  readonly waiting?: readonly Report[];
  /** Called with each report that the server will never take, and why. It is not sent again. */
  readonly onRejected?: (report: Report, message: string) => void;
}

const RETRY_MS_MAX = 60_000;
const RETRY_MS_MIN = 1000;

/**
 * Sends reports in their order, many in a request, and keeps each until the server has it on disk. While there is no
 * connection, or the server is busy, it waits and goes on. It stops if the server refuses the key or the request.
 */
export class ReportQueue {
  readonly #connection: Connection;
  readonly #options: QueueOptions;
  readonly #waiting: Report[];
  readonly #stop = new AbortController();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #sending: Promise<void> | null = null;
  #failure: unknown = null;

  constructor(connection: Connection, options: QueueOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#waiting = [...(options.waiting ?? [])];
    if (this.#waiting.length > 0) this.#sendSoon();
  }

  /** Reports that the server is not known to have, the oldest first: keep them to go on after a restart. */
  get waiting(): readonly Report[] {
    return [...this.#waiting];
  }

  /** Adds a report. Throws if the queue has stopped; `waiting` still has all that were added before. */
  add(report: Report): void {
    if (this.#failure !== null) throw this.#failure;
    this.#waiting.push(report);
    if (this.#waiting.length >= this.#batch) void this.#begin();
    else this.#sendSoon();
  }

  /** Resolves once the server has all reports that were added; rejects if the queue stops. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 && this.#failure === null) await this.#begin();
    if (this.#failure !== null) throw this.#failure;
  }

  /** Sends no more. What is under way may arrive; `waiting` has what may not have. */
  close(): void {
    this.#failure ??= new Error("the queue is closed");
    this.#stop.abort(this.#failure);
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  get #batch(): number {
    return this.#options.batch ?? 1000;
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => void this.#begin(), this.#options.delayMs ?? 1000);
  }

  /** Sends all that waits, unless that is under way. Never rejects. */
  #begin(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = null;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    for (let failures = 0; this.#waiting.length > 0 && this.#failure === null; ) {
      const locations = this.#waiting.slice(0, this.#batch);
      try {
        const rejected = await this.#send(locations);
        this.#waiting.splice(0, locations.length);
        for (const { index, message } of rejected) this.#options.onRejected?.(locations[index]!, message);
        failures = 0;
      } catch (error) {
        const isOver = error instanceof WherehouseError && error.retryAfterSeconds === null;
        if (isOver || this.#stop.signal.aborted) this.#failure ??= error;
        else await this.#pause(error, failures++);
      }
    }
  }

  async #send(locations: readonly Report[]): Promise<readonly Rejected[]> {
    const answer = await this.#connection.send("/ingest/v1/locations", {
      method: "POST",
      body: { locations },
      signal: this.#stop.signal,
    });
    return ((await answer.json()) as { readonly rejected: readonly Rejected[] }).rejected;
  }

  async #pause(error: unknown, failures: number): Promise<void> {
    const wantedMs = error instanceof WherehouseError ? error.retryAfterSeconds! * 1000 : 0;
    const growingMs = Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** failures) * (0.5 + Math.random() / 2);
    await wait(Math.max(wantedMs, growingMs), this.#stop.signal).catch(() => undefined);
  }
}

interface Rejected {
  readonly index: number;
  readonly message: string;
}
