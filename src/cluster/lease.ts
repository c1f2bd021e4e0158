import { messageOf } from "../lib/message-of.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { Repeated } from "./repeat.ts";
import { type Bucket, type BucketEntry, StreamError } from "./stream/stream.ts";

/*
 * A lease for work that one node of a cluster does at a time. The owner renews it every few seconds, and stops by
 * itself if it could not renew it for `HOLD_MS`. The other nodes take it when they have seen it unchanged for `TAKE_MS`
 * by their own clocks, which starts after the owner's last write. A write succeeds only if the value has not changed in
 * between. So two nodes never own the lease at the same time, however long messages are delayed or processes are
 * stopped.
 */

export interface LeaseOptions {
  readonly bucket: Pick<Bucket, "get" | "update">;
  readonly key: string;
  /** A new process of the same node continues the lease of the former one. */
  readonly nodeId: string;
  /** Unique for this process. */
  readonly processId: string;
  readonly timers: Timers;
  /** This node owns the lease until `onLost`. Each time it gets another owner, the term is greater. */
  onHeld(term: number): void;
  /** The lease could not be renewed, or another node owns it. */
  onLost(): void;
  /** Another node owns the lease; called when its owner changes. */
  onElsewhere(nodeId: string): void;
  onNote(note: string): void;
}

const ASK_MS = 3000;
const HOLD_MS = 10_000;
const TAKE_MS = 15_000;

interface HeldLease {
  readonly revision: number;
  /** When the last successful write was sent. */
  readonly sentMs: number;
  readonly cancel: () => void;
}

interface SeenLease {
  readonly revision: number;
  readonly sinceMs: number;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #asking: Repeated;
  #lease: HeldLease | null = null;
  #seen: SeenLease | null = null;
  #elsewhere: string | null = null;
  #isReleased = false;

  /** Tries to take the lease immediately. */
  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#asking = new Repeated(() => this.#orNote(() => this.#step()), ASK_MS, options.timers);
  }

  /** Check this before each action of the owner: the lease may end during a pause of the process. */
  get isHeld(): boolean {
    if (this.#lease === null) return false;
    if (this.#options.timers.nowMs() - this.#lease.sentMs < HOLD_MS) return true;
    this.#lose();
    return false;
  }

  /** Releases the lease for other nodes, after the work has ended. Never rejects. */
  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#asking.stop();
    const lease = this.#lease;
    if (lease === null) return;
    lease.cancel();
    this.#lease = null;
    await this.#orNote(() => this.#write(NO_OWNER, lease.revision)); // On failure the lease expires.
  }

  async #step(): Promise<void> {
    if (this.isHeld) await this.#renew(this.#lease!);
    else if (!this.#isReleased) await this.#look();
  }

  async #renew({ revision }: HeldLease): Promise<void> {
    try {
      await this.#take(revision);
    } catch (error) {
      if (!(error instanceof StreamError) || error.kind !== "conflict") throw error;
      // Another node took it, or the answer to our own write was lost.
      const entry = await this.#options.bucket.get(this.#options.key);
      const isOurs = entry !== null && parseOwner(entry).process === this.#options.processId;
      if (isOurs) await this.#take(entry.revision);
      else this.#lose();
    }
  }

  async #look(): Promise<void> {
    const { bucket, key, nodeId, timers } = this.#options;
    const entry = await bucket.get(key);
    if (entry === null) return this.#take(0);
    if (this.#seen?.revision !== entry.revision)
      this.#seen = { revision: entry.revision, sinceMs: timers.nowMs() };
    const { holder } = parseOwner(entry);
    const isOver = timers.nowMs() - this.#seen.sinceMs >= TAKE_MS;
    if (holder === null || holder === nodeId || isOver) return this.#take(entry.revision);
    if (this.#elsewhere !== holder) this.#options.onElsewhere(holder);
    this.#elsewhere = holder;
  }

  /** Rejects with a `StreamError`: a `conflict` if another node was faster. */
  async #take(revision: number): Promise<void> {
    const { timers, nodeId, processId } = this.#options;
    const sentMs = timers.nowMs();
    const written = await this.#write({ holder: nodeId, process: processId }, revision);
    const leftMs = sentMs + HOLD_MS - timers.nowMs();
    if (leftMs <= 0) return; // It may have expired by now; the next step finds out.
    const before = this.#lease;
    before?.cancel();
    this.#lease = { revision: written, sentMs, cancel: timers.after(leftMs, () => void this.isHeld) };
    this.#elsewhere = null;
    if (before === null) this.#options.onHeld(written);
  }

  #lose(): void {
    this.#lease?.cancel();
    this.#lease = null;
    this.#options.onLost();
  }

  #write(holder: LeaseOwner, revision: number): Promise<number> {
    return this.#options.bucket.update(this.#options.key, encodeOwner(holder), revision);
  }

  /** Unreachable servers and conflicts are retried. */
  async #orNote(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (error) {
      if (!(error instanceof StreamError)) throw error;
      if (error.kind === "conflict" || error.kind === "unreachable") return;
      this.#options.onNote(messageOf(error));
    }
  }
}

/** The owner as it is stored in the bucket. */
interface LeaseOwner {
  /** The node's id; null for a released lease. */
  readonly holder: string | null;
  readonly process: string;
}

const NO_OWNER: LeaseOwner = { holder: null, process: "" };

/** The owner of a value that this program can't read: not this process. */
const UNKNOWN_OWNER: LeaseOwner = { holder: "", process: "" };

const FORMAT_VERSION = 1;

function encodeOwner(holder: LeaseOwner): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ version: FORMAT_VERSION, ...holder }));
}

function parseOwner({ value }: BucketEntry): LeaseOwner {
  const content = parseVersionedJson(value, FORMAT_VERSION);
  if (!content.ok) return UNKNOWN_OWNER;
  const { holder, process } = content.value;
  if ((typeof holder !== "string" && holder !== null) || typeof process !== "string") return UNKNOWN_OWNER;
  return { holder, process };
}
