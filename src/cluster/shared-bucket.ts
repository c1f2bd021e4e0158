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

/** What is known of a value. */
interface Known {
  /** Null where there is none. */
  readonly bytes: Uint8Array | null;
  readonly revision: number;
  /** When the servers were last asked for it, by the timers' clock. */
  readonly askedAt: number;
}

export interface SharedBucketTimes {
  /** From one time that the servers are asked for a value, although its changes are told, to the next. */
  readonly askAgainMs: number;
  /** Until changes that are no longer told are asked for anew. */
  readonly watchAgainMs: number;
}

/**
 * A revoked key ends within two seconds on every node, even if the server that would tell of it stands still: each
 * value is read once a second, and every reading has to ask, so that the next one has the answer.
 */
const TIMES: SharedBucketTimes = { askAgainMs: 500, watchAgainMs: 1000 };

/**
 * The values that the nodes of a cluster share, each under the name that its file has where a process is alone. A copy
 * of each is kept here and followed: where the servers can't be asked, what was last known stays in force.
 */
export class SharedBucket implements SharedValues {
  readonly #bucket: Bucket;
  readonly #times: SharedBucketTimes;
  readonly #timers: Timers;
  readonly #known = new Map<string, Known>();
  readonly #asking = new Set<string>();
  /** Those whose changes are told since the watch began. */
  readonly #told = new Set<string>();
  #isWatching = false;

  constructor(bucket: Bucket, times: SharedBucketTimes = TIMES, timers: Timers = systemTimers) {
    this.#bucket = bucket;
    this.#times = times;
    this.#timers = timers;
  }

  /** The first `read` of it rejects with a `StreamError` where the servers can't be asked; later ones never do. */
  find(name: string): SharedValue {
    return {
      name,
      read: () => this.#read(name),
      ask: () => this.#ask(name).catch(ignoreStreamError),
      change: (decide) => this.#change(name, decide),
    };
  }

  /** Takes in what others change as they do it. Without it a value is as old as the last time it was asked for. */
  watch(): { stop(): void } {
    const stopping = new AbortController();
    this.#follow(stopping.signal); // What it rejects with is a bug, and stops the process.
    return { stop: () => stopping.abort() };
  }

  async #follow(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.#told.clear();
        this.#isWatching = true;
        await this.#bucket.watch((name, entry) => this.#hear(name, entry), signal);
      } catch (error) {
        if (!(error instanceof StreamError)) throw error; // Until there is a watch again, the servers are asked.
      }
      this.#isWatching = false;
      await pause(this.#timers, this.#times.watchAgainMs, signal);
    }
  }

  /** The first that a watch tells of a value counts, even where it is older: the bucket may have been restored. */
  #hear(name: string, entry: BucketEntry | null): void {
    const known = this.#known.get(name);
    const isFirst = !this.#told.has(name);
    this.#told.add(name);
    if (entry !== null && known !== undefined && !isFirst && entry.revision < known.revision) return;
    this.#keep(name, entry, known?.askedAt ?? Number.NEGATIVE_INFINITY);
  }

  async #read(name: string): Promise<ValueReading> {
    const before = this.#known.get(name);
    if (before === undefined) await this.#ask(name);
    else if (this.#isDue(before)) this.#askMeanwhile(name);
    return { kind: "read", bytes: this.#known.get(name)?.bytes ?? null };
  }

  #isDue({ askedAt }: Known): boolean {
    return !this.#isWatching || this.#timers.nowMs() >= askedAt + this.#times.askAgainMs;
  }

  /** Whoever reads has what is known at once: servers that don't answer would hold up what a watch tells. */
  #askMeanwhile(name: string): void {
    if (this.#asking.has(name)) return;
    this.#asking.add(name);
    this.#ask(name)
      .catch(ignoreStreamError)
      .finally(() => this.#asking.delete(name));
  }

  async #ask(name: string): Promise<void> {
    this.#take(name, await this.#bucket.get(name));
  }

  /** What a server answers may be older than what is known, since any of them may answer. */
  #take(name: string, entry: Pick<BucketEntry, "value" | "revision"> | null): void {
    const known = this.#known.get(name);
    const isNews = known === undefined || (entry !== null && entry.revision > known.revision);
    if (isNews) this.#keep(name, entry, this.#timers.nowMs());
    else this.#known.set(name, { ...known, askedAt: this.#timers.nowMs() });
  }

  #keep(name: string, entry: Pick<BucketEntry, "value" | "revision"> | null, askedAt: number): void {
    this.#known.set(name, { bytes: entry?.value ?? null, revision: entry?.revision ?? 0, askedAt });
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

/** It says nothing about a value. */
function ignoreStreamError(error: unknown): void {
  if (!(error instanceof StreamError)) throw error;
}

class FullError extends StreamError {
  constructor() {
    super("refused", "The value is as long as it may be.");
  }
}

/** One change, made again until it is not refused. */
class Attempt<Answer> {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #decide: (reading: ValueReading) => ValueDecision<Answer>;
  /** What was last sent, which may be there though nobody said so. */
  #sent: { readonly bytes: Uint8Array; readonly answer: Answer } | null = null;
  #mayBeWritten = false;

  constructor(bucket: Bucket, name: string, decide: (reading: ValueReading) => ValueDecision<Answer>) {
    this.#bucket = bucket;
    this.#name = name;
    this.#decide = decide;
  }

  /** Rejects with a `StreamError`. */
  async make() {
    const found = await this.#bucket.get(this.#name);
    const sent = this.#sent;
    if (sent !== null && found !== null && Buffer.compare(found.value, sent.bytes) === 0)
      return { answer: sent.answer, entry: found, isWritten: true };
    const { bytes, answer, adds } = this.#decide({ kind: "read", bytes: found?.value ?? null });
    if (bytes === null) return { answer, entry: found, isWritten: false };
    if (adds && bytes.length > this.#addedBytesMax) throw new FullError();
    this.#sent = { bytes, answer };
    const revision = await this.#write(bytes, found?.revision ?? 0);
    return { answer, entry: { key: this.#name, value: bytes, revision }, isWritten: true };
  }

  /** A revocation makes the value a little longer, and must find room. */
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
