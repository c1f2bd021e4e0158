import { StreamError, type StreamMessage, type StreamState } from "../../../src/cluster/stream/stream.ts";
import { assert } from "../../../src/lib/assert.ts";
import { SimulatedValues } from "./simulated-bucket.ts";

/** A stored message. */
interface StoredMessage extends StreamMessage {
  readonly keptMs: number;
}

/** How long ids of messages are remembered. */
const KNOWN_MS = 120_000;

/**
 * The servers of a stream, shared by all nodes. Tests set their faults; delays and losses of messages are simulated by
 * each node's connection.
 */
export class SimulatedServers {
  readonly name: string;
  created = "2026-01-01T00:00:00.000000001Z";
  /** Without a majority the servers accept and deliver nothing. */
  isLeaderless = false;
  /** Whether new messages are refused. */
  isFull = false;
  bytesMax = 16_000_000_000;
  readonly #nowMs: () => number;
  /** All messages, including purged ones. */
  readonly history: StreamMessage[] = [];
  #messages: StoredMessage[] = [];
  #nextNumber: number;
  /** The number and time of each message, by id. */
  #known = new Map<string, { readonly number: number; readonly keptMs: number }>();
  readonly #watchers = new Set<() => void>();
  readonly #values = new Map<string, SimulatedValues>();

  constructor(name: string, nowMs: () => number, firstMessage = 1) {
    this.name = name;
    this.#nowMs = nowMs;
    this.#nextNumber = firstMessage;
  }

  /** Stores a message, once per id, and returns its number. Throws a `StreamError` on failure. */
  keep(bytes: Uint8Array, id: string): number {
    if (this.isLeaderless) throw new StreamError("unreachable", "no majority of the servers answers");
    const nowMs = this.#nowMs();
    const known = this.#known.get(id);
    if (known !== undefined && nowMs - known.keptMs < KNOWN_MS) return known.number;
    if (this.isFull) throw new StreamError("full", "maximum bytes exceeded");
    const number = this.#nextNumber++;
    this.#known.set(id, { number, keptMs: nowMs });
    const message = { number, id, bytes: new Uint8Array(bytes), keptMs: nowMs };
    this.#messages.push(message);
    this.history.push(message);
    this.#tell();
    return number;
  }

  /** Stores a foreign or damaged message. */
  keepForeign(bytes: Uint8Array): number {
    return this.keep(bytes, `foreign ${this.#nextNumber}`);
  }

  state(): StreamState {
    const bytes = this.#messages.reduce((sum, message) => sum + message.bytes.length, 0);
    const { firstMessage, bytesMax } = this;
    return { firstMessage, lastMessage: this.#nextNumber - 1, bytes, bytesMax };
  }

  get firstMessage(): number {
    return this.#messages[0]?.number ?? this.#nextNumber;
  }

  /** Messages that are not purged. */
  get messages(): readonly StreamMessage[] {
    return this.#messages;
  }

  /** Null if it does not exist yet. */
  find(number: number): StoredMessage | null {
    const message = this.#messages[number - this.firstMessage] ?? null;
    assert(message === null || message.number === number, "no message is left out");
    return message;
  }

  purgeBefore(number: number): void {
    this.#messages = this.#messages.filter((message) => message.number >= number);
    this.#tell();
  }

  /** Restores the stream to the state in which this message was the last. */
  putBackTo(lastMessage: number): void {
    this.#messages = this.#messages.filter(({ number }) => number <= lastMessage);
    this.#known = new Map([...this.#known].filter(([, { number }]) => number <= lastMessage));
    this.#nextNumber = lastMessage + 1;
    this.#tell();
  }

  /** Removes the stream, and creates another one of the same name. */
  recreate(created: string): void {
    this.created = created;
    this.#messages = [];
    this.#nextNumber = 1;
    this.#known = new Map();
    this.#tell();
  }

  setLeaderless(isLeaderless: boolean): void {
    this.isLeaderless = isLeaderless;
    this.#tell();
  }

  hasValues(bucket: string): boolean {
    return this.#values.has(bucket);
  }

  /** Deletes the bucket. */
  removeValues(bucket: string): void {
    this.#values.delete(bucket);
  }

  /** The values of a bucket, which is created if it is missing. */
  valuesOf(bucket: string): SimulatedValues {
    const values = this.#values.get(bucket) ?? new SimulatedValues();
    this.#values.set(bucket, values);
    return values;
  }

  /** Calls `onChange` at each change; the result ends that. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
