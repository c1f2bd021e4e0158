import { messageOf } from "../lib/message-of.ts";
import type { Timers } from "../lib/schedule/timers.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { Repeated } from "./repeat.ts";
import { type Bucket, type BucketEntry, StreamError } from "./stream/stream.ts";

/*
 * What one node of a cluster does at a time. Its holder writes the lease anew every few seconds, and stops by itself
 * when it could not for `HOLD_MS`. The others go by their own clocks too: they take it when they have seen it unchanged
 * for `TAKE_MS`, counted from when the holder's last write was there already. A write is only taken where nobody has
 * written in between. So no two hold it at once, however long messages take or processes stand still.
 */

export interface LeaseOptions {
  readonly bucket: Pick<Bucket, "get" | "update">;
  readonly key: string;
  /** Of this node: where its process ends and another one begins in its directory, that goes on with the lease. */
  readonly nodeId: string;
  /** Of this process, and no other one. */
  readonly processId: string;
  readonly timers: Timers;
  /** This node has it, from here until `onLost`. */
  onHeld(): void;
  /** It could not be renewed, or somebody else has it. */
  onLost(): void;
  /** Another node is seen to have it, and none was before, or another one. */
  onElsewhere(nodeId: string): void;
  onNote(note: string): void;
}

const ASK_MS = 3000;
const HOLD_MS = 10_000;
const TAKE_MS = 15_000;

interface Held {
  readonly revision: number;
  /** When the write that is known to be there was sent. */
  readonly sentMs: number;
  readonly cancel: () => void;
}

interface Seen {
  readonly revision: number;
  readonly sinceMs: number;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #asking: Repeated;
  #held: Held | null = null;
  #seen: Seen | null = null;
  #elsewhere: string | null = null;
  #isReleased = false;

  /** Begins to ask for it at once. */
  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#asking = new Repeated(() => this.#orNote(() => this.#step()), ASK_MS, options.timers);
  }

  /** Asked before each thing that only its holder may do: after a pause of the process it may be over. */
  get isHeld(): boolean {
    if (this.#held === null) return false;
    if (this.#options.timers.nowMs() - this.#held.sentMs < HOLD_MS) return true;
    this.#lose();
    return false;
  }

  /** Gives it free at once for others, after what it was held for has ended. Rejects with nothing. */
  async release(): Promise<void> {
    this.#isReleased = true;
    await this.#asking.stop();
    const held = this.#held;
    if (held === null) return;
    held.cancel();
    this.#held = null;
    await this.#orNote(() => this.#write(NOBODY, held.revision)); // Where that fails others wait for its end.
  }

  async #step(): Promise<void> {
    if (this.isHeld) await this.#renew(this.#held!);
    else if (!this.#isReleased) await this.#look();
  }

  async #renew({ revision }: Held): Promise<void> {
    try {
      await this.#take(revision);
    } catch (error) {
      if (!(error instanceof StreamError) || error.kind !== "conflict") throw error;
      // It is somebody else's, or a write of ours came whose answer did not.
      const entry = await this.#options.bucket.get(this.#options.key);
      const isOurs = entry !== null && parseHolder(entry).process === this.#options.processId;
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
    const { holder } = parseHolder(entry);
    const isOver = timers.nowMs() - this.#seen.sinceMs >= TAKE_MS;
    if (holder === null || holder === nodeId || isOver) return this.#take(entry.revision);
    if (this.#elsewhere !== holder) this.#options.onElsewhere(holder);
    this.#elsewhere = holder;
  }

  /** Rejects with a `StreamError`, a `conflict` where somebody was quicker. */
  async #take(revision: number): Promise<void> {
    const { timers, nodeId, processId } = this.#options;
    const sentMs = timers.nowMs();
    const written = await this.#write({ holder: nodeId, process: processId }, revision);
    const leftMs = sentMs + HOLD_MS - timers.nowMs();
    if (leftMs <= 0) return; // Others may have it by now: what it is the next look says.
    const before = this.#held;
    before?.cancel();
    this.#held = { revision: written, sentMs, cancel: timers.after(leftMs, () => void this.isHeld) };
    this.#elsewhere = null;
    if (before === null) this.#options.onHeld();
  }

  #lose(): void {
    this.#held?.cancel();
    this.#held = null;
    this.#options.onLost();
  }

  #write(holder: Holder, revision: number): Promise<number> {
    return this.#options.bucket.update(this.#options.key, encodeHolder(holder), revision);
  }

  /** Servers that can't be asked are asked again, and who was slower looks again. */
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

/** Who has it: a node, and which process of it. */
interface Holder {
  /** Null where nobody has. */
  readonly holder: string | null;
  readonly process: string;
}

const NOBODY: Holder = { holder: null, process: "" };

/** Of a value that this program can't read: somebody, and none of ours. */
const SOMEBODY: Holder = { holder: "", process: "" };

const FORMAT_VERSION = 1;

function encodeHolder(holder: Holder): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ version: FORMAT_VERSION, ...holder }));
}

function parseHolder({ value }: BucketEntry): Holder {
  const content = parseVersionedJson(value, FORMAT_VERSION);
  if (!content.ok) return SOMEBODY;
  const { holder, process } = content.value;
  if ((typeof holder !== "string" && holder !== null) || typeof process !== "string") return SOMEBODY;
  return { holder, process };
}
