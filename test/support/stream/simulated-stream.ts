import {
  type Bucket,
  type BucketOptions,
  type Stream,
  StreamError,
  type StreamMessage,
  type StreamState,
} from "../../../src/cluster/stream/stream.ts";
import { SimulatedBucket } from "./simulated-bucket.ts";
import type { SimulatedServers } from "./simulated-servers.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** The faults of a node's connection. Chances are from 0 to 1, drawn for each message. */
export interface StreamWeather {
  /** The maximum delay of messages, answers and deliveries, which may overtake each other. */
  readonly delayMsMax: number;
  /** The timeout for answers. */
  readonly ackMsMax: number;
  /** The message is lost. */
  readonly lostChance: number;
  /** The answer is lost. */
  readonly lostAckChance: number;
  /** The message arrives after its timeout. */
  readonly lateChance: number;
  /** The message arrives twice. */
  readonly twiceChance: number;
}

export const CALM: StreamWeather = {
  delayMsMax: 2,
  ackMsMax: 20,
  lostChance: 0,
  lostAckChance: 0,
  lateChance: 0,
  twiceChance: 0,
};

export const ROUGH: StreamWeather = {
  delayMsMax: 12,
  ackMsMax: 30,
  lostChance: 0.1,
  lostAckChance: 0.15,
  lateChance: 0.1,
  twiceChance: 0.1,
};

export interface SimulatedStreamOptions {
  readonly servers: SimulatedServers;
  readonly time: VirtualTime;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly weather?: StreamWeather;
  readonly messageBytesMax?: number;
}

/** A node's connection to a replicated log in memory, with all possible faults. */
export class SimulatedStream implements Stream {
  readonly name: string;
  readonly created: string;
  readonly messageBytesMax: number;
  weather: StreamWeather;
  /** Whether the connection is cut: nothing is sent or delivered. */
  isCut = false;
  /** The number of messages that wait for an answer. */
  underWay = 0;
  publishes = 0;
  readonly #servers: SimulatedServers;
  readonly #time: VirtualTime;
  readonly #random: () => number;
  #isClosed = false;
  #wakeFollowers: (() => void)[] = [];

  constructor({
    servers,
    time,
    random,
    weather = CALM,
    messageBytesMax = 1024 * 1024,
  }: SimulatedStreamOptions) {
    this.name = servers.name;
    this.created = servers.created;
    this.messageBytesMax = messageBytesMax;
    this.weather = weather;
    this.#servers = servers;
    this.#time = time;
    this.#random = random;
  }

  async publish(message: Uint8Array, id: string): Promise<number> {
    if (message.length > this.messageBytesMax) throw new StreamError("refused", "maximum payload exceeded");
    this.publishes++;
    this.underWay++;
    const bytes = new Uint8Array(message); // Copied when it is sent.
    try {
      return await this.#sendAndWait(bytes, id);
    } finally {
      this.underWay--;
    }
  }

  #sendAndWait(bytes: Uint8Array, id: string): Promise<number> {
    const { lostChance, lostAckChance, lateChance, twiceChance, ackMsMax } = this.weather;
    const [isLost, isAckLost, isLate, isTwice] = [lostChance, lostAckChance, lateChance, twiceChance].map(
      (chance) => this.#random() < chance,
    );
    return new Promise((resolve, reject) => {
      const stopTimer = this.#time.after(ackMsMax, () => {
        reject(new StreamError("unreachable", "no answer came"));
      });
      const answer = (settle: () => void) => {
        if (isAckLost) return;
        this.#time.after(this.#drawDelay(), () => {
          if (!this.#isReached()) return;
          stopTimer();
          settle();
        });
      };
      const arrive = () => {
        if (!this.#isReached()) return;
        try {
          const number = this.#servers.keep(bytes, id);
          answer(() => resolve(number));
        } catch (error) {
          answer(() => reject(error));
        }
      };
      if (isLost) return;
      this.#time.after(this.#drawDelay() + (isLate ? ackMsMax : 0), arrive);
      if (isTwice) this.#time.after(this.#drawDelay(), arrive);
    });
  }

  async follow(
    from: number,
    onMessage: (message: StreamMessage) => Promise<void> | void,
    signal: AbortSignal,
  ): Promise<void> {
    for (let next = from; !signal.aborted; ) {
      if (this.#isClosed) throw new StreamError("unreachable", "the connection was closed");
      this.#checkNext(next);
      const message = this.#isReached() && !this.#servers.isLeaderless ? this.#servers.find(next) : null;
      const readyMs = message === null ? Number.POSITIVE_INFINITY : message.keptMs + this.#drawDelay();
      if (message === null || readyMs > this.#time.nowMs()) {
        await this.#untilChange(readyMs - this.#time.nowMs(), signal);
        if (message === null || !this.#isReached() || signal.aborted) continue;
      }
      const { number, id, bytes } = message;
      next++;
      await onMessage({ number, id, bytes: new Uint8Array(bytes) });
    }
  }

  #checkNext(next: number): void {
    const { created, firstMessage } = this.#servers;
    if (created !== this.created) throw new StreamError("gone", `the stream was created anew at ${created}`);
    if (next < firstMessage)
      throw new StreamError("gone", `message ${next} was purged: the first is ${firstMessage}`);
  }

  /** Waits for this time, or, if it is infinite, until the servers or the connection change. */
  async #untilChange(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const onAbort = () => resolve();
    signal.addEventListener("abort", onAbort);
    const cancel = Number.isFinite(ms) ? this.#time.after(ms, resolve) : this.#servers.watch(resolve);
    this.#wakeFollowers.push(resolve);
    await promise;
    cancel();
    signal.removeEventListener("abort", onAbort);
    this.#wakeFollowers = this.#wakeFollowers.filter((wake) => wake !== resolve);
  }

  async state(): Promise<StreamState> {
    await this.#ask();
    return this.#servers.state();
  }

  async messageId(number: number): Promise<string | null> {
    await this.#ask();
    return this.#servers.find(number)?.id ?? null;
  }

  async purgeBefore(message: number): Promise<void> {
    await this.#ask();
    this.#servers.purgeBefore(Math.min(message, this.#servers.state().lastMessage + 1));
  }

  async bucket(name: string, { mustExist = false }: BucketOptions = {}): Promise<Bucket> {
    await this.#ask();
    if (mustExist && !this.#servers.hasValues(name))
      throw new StreamError("gone", `Cannot open the bucket "${name}": stream not found`);
    return new SimulatedBucket(this.#servers.valuesOf(name), () => this.#time.wait(1));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
  }

  /** Cuts or restores the connection. */
  setCut(isCut: boolean): void {
    this.isCut = isCut;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakeFollowers) wake();
  }

  async #ask(): Promise<void> {
    await this.#time.wait(this.#drawDelay());
    if (!this.#isReached() || this.#servers.isLeaderless)
      throw new StreamError("unreachable", "no server answers");
    if (this.#servers.created !== this.created) throw new StreamError("gone", "the stream was created anew");
  }

  #isReached(): boolean {
    return !this.isCut && !this.#isClosed;
  }

  #drawDelay(): number {
    return Math.floor(this.#random() * (this.weather.delayMsMax + 1));
  }
}
