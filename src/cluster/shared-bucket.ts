import { Buffer } from "node:buffer";
import {
  CHANGE_RETRY_MS,
  CHANGE_WAIT_MS,
  type SharedValue,
  type SharedValueError,
  type SharedValues,
  type ValueDecision,
  type ValueReading,
} from "../directory/shared-value.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { pause, systemTimers, type Timers } from "../lib/schedule/timers.ts";
import { type Bucket, type BucketEntry, StreamError } from "./stream/stream.ts";

/** The known state of a value. */
interface Known {
  /** Null if there is no value. */
  readonly bytes: Uint8Array | null;
  readonly revision: number;
  /** When the servers last answered for it, by the timers' clock. */
  readonly answeredAt: number;
}

export interface SharedBucketTimes {
  /** How often a watched value is also requested from the servers. */
  readonly askAgainMs: number;
  /** The pause before a broken watch is started again. */
  readonly watchAgainMs: number;
}

/**
 * A revoked key ends within two seconds on every node, even if the server of the watch is stuck: each value is read
 * once a second, and every read must send a request, so that the next one has the answer.
 */
const TIMES: SharedBucketTimes = { askAgainMs: 500, watchAgainMs: 1000 };

/**
 * The values that the nodes of a cluster share, by the names of the files that a single process has. Each value is
 * cached and watched: while the servers are unreachable, the last known value stays in force.
 */
export class SharedBucket implements SharedValues {
  readonly #bucket: Bucket;
  readonly #times: SharedBucketTimes;
  readonly #timers: Timers;
  readonly #known = new Map<string, Known>();
  readonly #pending = new Set<string>();
  /** Values that the current watch has reported. */
  readonly #watched = new Set<string>();
  #isWatching = false;

  constructor(bucket: Bucket, times: SharedBucketTimes = TIMES, timers: Timers = systemTimers) {
    this.#bucket = bucket;
    this.#times = times;
    this.#timers = timers;
  }

  /** The first `read` rejects with a `StreamError` if the servers are unreachable; later ones never reject. */
  find(name: string): SharedValue {
    return {
      name,
      read: () => this.#read(name),
      ask: () => this.#ask(name).catch(ignoreStreamError),
      change: (decide) => this.#change(name, decide),
    };
  }

  /** Follows changes of other nodes. Without it a value is as old as the last request for it. */
  watch(): { stop(): void } {
    const stopping = new AbortController();
    this.#follow(stopping.signal); // A rejection is a bug, and stops the process.
    return { stop: () => stopping.abort() };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#watched.clear();
        this.#isWatching = true;
        await this.#bucket.watch((name, entry) => this.#hear(name, entry), signal);
      } catch (error) {
        if (!(error instanceof StreamError)) throw error; // Until the next watch, the servers are asked.
      }
      this.#isWatching = false;
      await pause(this.#timers, this.#times.watchAgainMs, signal);
    }
  }

  /** The first report of a watch counts even if it is older: the bucket may have been restored. */
  #hear(name: string, entry: BucketEntry | null): void {
    const known = this.#known.get(name);
    const isFirst = !this.#watched.has(name);
    this.#watched.add(name);
    if (entry !== null && known !== undefined && !isFirst && entry.revision < known.revision) return;
    this.#keep(name, entry, known?.answeredAt ?? Number.NEGATIVE_INFINITY);
  }

  async #read(name: string): Promise<ValueReading> {
    const before = this.#known.get(name);
    if (before === undefined) await this.#ask(name);
    else if (this.#isDue(before)) this.#askMeanwhile(name);
    return { kind: "read", bytes: this.#known.get(name)?.bytes ?? null };
  }

  #isDue({ answeredAt }: Known): boolean {
    return !this.#isWatching || this.#timers.nowMs() >= answeredAt + this.#times.askAgainMs;
  }

  /** The read returns the known value immediately: servers that don't answer must not delay what the watch reports. */
  #askMeanwhile(name: string): void {
    if (this.#pending.has(name)) return;
    this.#pending.add(name);
    this.#ask(name)
      .catch(ignoreStreamError)
      .finally(() => this.#pending.delete(name));
  }

  async #ask(name: string): Promise<void> {
    this.#take(name, await this.#bucket.get(name));
  }

  /** An answer may be older than the known value, since any server may send it. */
  #take(name: string, entry: Pick<BucketEntry, "value" | "revision"> | null): void {
    const known = this.#known.get(name);
    const isNews = known === undefined || (entry !== null && entry.revision > known.revision);
    if (isNews) this.#keep(name, entry, this.#timers.nowMs());
    else this.#known.set(name, { ...known, answeredAt: this.#timers.nowMs() });
  }

  #keep(name: string, entry: Pick<BucketEntry, "value" | "revision"> | null, answeredAt: number): void {
    this.#known.set(name, { bytes: entry?.value ?? null, revision: entry?.revision ?? 0, answeredAt });
  }

  async #change<Answer>(
    name: string,
    decide: (reading: ValueReading) => ValueDecision<Answer>,
  ): Promise<Result<Answer, SharedValueError>> {
    const giveUpAt = this.#timers.nowMs() + CHANGE_WAIT_MS;
    const attempt = new Attempt(this.#bucket, name, decide);
    for (;;) {
      try {
        const { answer, entry, isWritten } = await attempt.make();
        if (isWritten && entry !== null) this.#keep(name, entry, this.#timers.nowMs());
        else this.#take(name, entry);
        return ok(answer);
      } catch (error) {
        if (!(error instanceof StreamError)) throw error;
        const mayPass = error.kind === "conflict" || error.kind === "unreachable";
        if (!mayPass || this.#timers.nowMs() >= giveUpAt) return fail(attempt.faultOf(error));
      }
      await new Promise<void>((resolve) => this.#timers.after(CHANGE_RETRY_MS, resolve));
    }
  }
}

function ignoreStreamError(error: unknown): void {
  if (!(error instanceof StreamError)) throw error;
}

class FullError extends StreamError {
  constructor() {
    super("refused", "The value has reached its maximum length.");
  }
}

/** One change, repeated until it is not refused. */
class Attempt<Answer> {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #decide: (reading: ValueReading) => ValueDecision<Answer>;
  /** The last value sent, which may be stored although no answer came. */
  #lastAttempt: { readonly bytes: Uint8Array; readonly answer: Answer } | null = null;
  #mayBeWritten = false;

  constructor(bucket: Bucket, name: string, decide: (reading: ValueReading) => ValueDecision<Answer>) {
    this.#bucket = bucket;
    this.#name = name;
    this.#decide = decide;
  }

  /** Makes one attempt. Rejects with a `StreamError`. */
  async make() {
    const entry = await this.#bucket.get(this.#name);
    const attempt = this.#lastAttempt;
    if (attempt !== null && entry !== null && Buffer.compare(entry.value, attempt.bytes) === 0)
      return { answer: attempt.answer, entry, isWritten: true };
    const { bytes, answer, adds } = this.#decide({ kind: "read", bytes: entry?.value ?? null });
    if (bytes === null) return { answer, entry, isWritten: false };
    if (adds && bytes.length > this.#addedBytesMax) throw new FullError();
    this.#lastAttempt = { bytes, answer };
    const revision = await this.#write(bytes, entry?.revision ?? 0);
    return { answer, entry: { key: this.#name, value: bytes, revision }, isWritten: true };
  }

  /** Leaves room for revocations, which make the value a little longer. */
  get #addedBytesMax(): number {
    return Math.floor((this.#bucket.valueBytesMax * 3) / 4);
  }

  async #write(bytes: Uint8Array, revision: number): Promise<number> {
    try {
      return await this.#bucket.update(this.#name, bytes, revision);
    } catch (error) {
      if (error instanceof StreamError && error.kind === "unreachable") this.#mayBeWritten = true;
      throw error;
    }
  }

  faultOf(error: StreamError): SharedValueError {
    const { kind, message } = error;
    if (error instanceof FullError) return { kind: "file_full", bytesMax: this.#addedBytesMax };
    if (kind === "conflict" && !this.#mayBeWritten) return { kind: "file_busy", owner: null };
    return { kind: "cluster_unreachable", reason: message, mayBeWritten: this.#mayBeWritten };
  }
}
