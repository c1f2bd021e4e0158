import { StreamError, type StreamMessage, type StreamState } from "../../../src/cluster/stream/stream.ts";
import { assert } from "../../../src/lib/assert.ts";
import { SimulatedValues } from "./simulated-bucket.ts";

/** A message as the servers keep it. */
interface KeptMessage extends StreamMessage {
  readonly keptMs: number;
}

/** Within this a message is known again by its id. */
const KNOWN_MS = 120_000;

/**
 * The servers of a stream, and what all nodes that are connected to them share. Whoever tests turns their faults on and
 * off; how messages get there and come back is a matter of each node's connection.
 */
export class SimulatedServers {
  readonly name: string;
  created = "2026-01-01T00:00:00.000000001Z";
  /** No majority of them: nothing is taken, and nothing is delivered. */
  isLeaderless = false;
  /** Every message that is new to them is refused. */
  isFull = false;
  bytesMax = 16_000_000_000;
  readonly #nowMs: () => number;
  /** Every message that was ever there, also those that were purged. */
  readonly history: StreamMessage[] = [];
  #messages: KeptMessage[] = [];
  #nextNumber: number;
  /** By id, when and as what it was kept. */
  #known = new Map<string, { readonly number: number; readonly keptMs: number }>();
  readonly #watchers = new Set<() => void>();
  readonly #values = new Map<string, SimulatedValues>();

  constructor(name: string, nowMs: () => number, firstMessage = 1) {
    this.name = name;
    this.#nowMs = nowMs;
    this.#nextNumber = firstMessage;
  }

  /** Takes a message in, once where it comes again; returns its number. Throws a `StreamError` where it can't. */
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

  /** A message that nobody of ours has published, or one that is damaged. */
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

  /** All that are still there. */
  get messages(): readonly StreamMessage[] {
    return this.#messages;
  }

  /** Null where it has not come yet. */
  find(number: number): KeptMessage | null {
    const message = this.#messages[number - this.firstMessage] ?? null;
    assert(message === null || message.number === number, "no message is left out");
    return message;
  }

  purgeBefore(number: number): void {
    this.#messages = this.#messages.filter((message) => message.number >= number);
    this.#tell();
  }

  /** Somebody puts the stream back to what it was when this message was its last. */
  putBackTo(lastMessage: number): void {
    this.#messages = this.#messages.filter(({ number }) => number <= lastMessage);
    this.#known = new Map([...this.#known].filter(([, { number }]) => number <= lastMessage));
    this.#nextNumber = lastMessage + 1;
    this.#tell();
  }

  /** Somebody removes the stream, and makes another of this name. */
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

  /** Somebody deletes the bucket. */
  removeValues(bucket: string): void {
    this.#values.delete(bucket);
  }

  /** Of the bucket of this name, which is made where there is none. */
  valuesOf(bucket: string): SimulatedValues {
    const values = this.#values.get(bucket) ?? new SimulatedValues();
    this.#values.set(bucket, values);
    return values;
  }

  /** Calls it whenever there is something to look at; returns how to end that. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  #tell(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
