import { topicParts } from "../../clients/owntracks/claim.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { BrokerConnection, BrokerListener, BrokerMessage, Verdict } from "../../runtime/broker.ts";
import { MessageRate } from "./message-rate.ts";
import { filtersBeside, filtersOverlap, UnheardTopics } from "./topic-filter.ts";

/*
 * One connection to a broker: what it brings is acknowledged when it is durable, as points or in the quarantine, and
 * stays with the broker until then. Where the store can't take it the message is held, which stops the connection's
 * stream, and is tried again.
 */

/** From one try of a message to the next: doubled each time. */
const HOLD_MS_MIN = 200;
const HOLD_MS_MAX = 10_000;

export interface TopicMessage {
  readonly topic: string;
  readonly body: Uint8Array;
  readonly arrivedMs: number;
}

/** Resolves once the message is durable, or with why it could not be made so for now. */
export type TakeTopicMessage = (message: TopicMessage) => Promise<Result<unknown, ServiceError>>;

/** What an operator should know of a connection, as it happens. */
export interface ReceiverEvents {
  /** `mayHaveMissed` where the broker kept nothing for us since the last time. */
  onConnected(topicFilter: string, mayHaveMissed: boolean): void;
  onDisconnected(topicFilter: string, reason: string): void;
  /** The broker refuses the subscription. */
  onRefused(topicFilter: string, reason: string): void;
  /** Messages wait until the store can take them. */
  onHeld(topicFilter: string, error: ServiceError): void;
  /** A phone publishes with QoS 0: what it sends while we are away is lost. */
  onUnassured(topicFilter: string): void;
  /** Positions are published to topics of so many levels, which the filter doesn't take. */
  onUnheard(topicFilter: string, levels: number): void;
  /** A message met a fault of ours and is set aside. Where that fails too, it stays with the broker. */
  onFault(topicFilter: string, error: unknown): void;
}

export interface ReceiverOptions {
  readonly topicFilter: string;
  /** Those of all connections: what comes by another one is heard. */
  readonly topicFilters: readonly string[];
  readonly clock: Clock;
  readonly take: TakeTopicMessage;
  /** Keeps a message as it is, where taking it met a fault of ours. */
  readonly setAside: TakeTopicMessage;
  readonly events: ReceiverEvents;
  /** Whether messages are this process's to take; asked before one is taken, and before it is acknowledged. */
  readonly mayTake: () => boolean;
  connect(listener: BrokerListener): BrokerConnection;
}

export class Receiver {
  readonly topicFilter: string;
  /** Messages by what became of them. */
  readonly counts = { taken: 0, faulty: 0 };
  /** Of all that came, those that the broker would not have sent again. */
  unassured = 0;
  /** Positions under topics that no filter takes. */
  readonly unheard = new UnheardTopics();
  readonly #options: ReceiverOptions;
  readonly #connection: BrokerConnection;
  readonly #rate = new MessageRate();
  readonly #stopping = Promise.withResolvers<void>();
  /** Settled when no message is under way. */
  #current: Promise<unknown> = Promise.resolve();
  #isConnected = false;
  #isSubscribed = false;
  #isHeld = false;
  #isStopping = false;
  /** Some brokers end the connection of a client that asks for topics which it may not read. */
  #mayListenBeside = true;
  #isAskingBeside = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.topicFilter = options.topicFilter;
    this.#connection = options.connect({
      onMessage: (message) => this.#onMessage(message),
      onConnected: (connection, hasSession) => void this.#onConnected(connection, hasSession),
      onDisconnected: (reason) => this.#onDisconnected(reason),
    });
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Whether a message waits for the store. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  get messagesPerSecond(): number | null {
    return this.#rate.perSecond(this.#options.clock.nowMs());
  }

  /** Takes nothing more, finishes the message under way unless it is held, and takes leave of the broker. */
  async close(): Promise<void> {
    this.#isStopping = true;
    this.#stopping.resolve();
    await this.#current;
    await this.#connection.close();
  }

  /** Takes nothing more, and acknowledges nothing more: what is under way is somebody else's from now on. */
  drop(): void {
    this.#isStopping = true;
    this.#stopping.resolve();
    this.#connection.drop();
  }

  async #onConnected(connection: BrokerConnection, hasSession: boolean): Promise<void> {
    const { topicFilter, events } = this.#options;
    this.#isConnected = true;
    events.onConnected(topicFilter, !hasSession);
    // A session may be without the subscription: we may have ended right after the session began.
    if (hasSession && this.#isSubscribed) return;
    this.#isSubscribed = false;
    const refusal = await connection.subscribe(topicFilter);
    this.#isSubscribed = refusal === null;
    if (refusal !== null && this.#isConnected) events.onRefused(topicFilter, refusal);
    if (!this.#mayListenBeside) return;
    this.#isAskingBeside = true;
    await connection.listen(filtersBeside(topicFilter));
    this.#isAskingBeside = false;
  }

  #onDisconnected(reason: string): void {
    this.#isConnected = false;
    if (this.#isAskingBeside) this.#mayListenBeside = false;
    this.#isAskingBeside = false;
    if (!this.#isStopping) this.#options.events.onDisconnected(this.topicFilter, reason);
  }

  /** A connection that ended may have left a message under way, and the next brings it again: one at a time. */
  #onMessage(message: BrokerMessage): Promise<Verdict> {
    if (!filtersOverlap(this.topicFilter, message.topic)) {
      this.#noteUnheard(message);
      return Promise.resolve("acknowledge");
    }
    const arrivedMs = this.#options.clock.nowMs();
    const verdict = this.#current
      .then(() => this.#decide(message, arrivedMs))
      .catch((error: unknown): Verdict => {
        this.#noteFault(error);
        return "leave"; // It is not known whether it is durable.
      });
    // Whatever became of one message, the next ones must not wait for it.
    this.#current = verdict.then(NOTHING, NOTHING);
    return verdict;
  }

  /** A topic that a filter takes may have too few levels to name a device. */
  #noteUnheard({ topic, body }: BrokerMessage): void {
    const isHeard = this.#options.topicFilters.some((filter) => filtersOverlap(filter, topic));
    if (isHeard && topicParts(topic).length > 2) return;
    if (this.unheard.note(topic, body))
      this.#options.events.onUnheard(this.topicFilter, topic.split("/").length);
  }

  #noteFault(error: unknown): void {
    this.counts.faulty++;
    this.#options.events.onFault(this.topicFilter, error);
  }

  async #decide(message: BrokerMessage, arrivedMs: number): Promise<Verdict> {
    const { mayTake } = this.#options;
    if (this.#isStopping || !message.isCurrent() || !mayTake()) return "stop";
    this.#rate.note(arrivedMs);
    if (message.qos === 0) this.#noteUnassured();
    this.#noteUnheard(message);
    const { take, setAside } = this.#options;
    const topicMessage = { topic: message.topic, body: message.body, arrivedMs };
    try {
      const verdict = await this.#untilKept(take, topicMessage, message);
      if (verdict === "acknowledge") this.counts.taken++;
      return mayTake() ? verdict : "stop";
    } catch (error) {
      this.#noteFault(error);
    }
    // Whatever is wrong with it, or with us: the next ones must not wait for it.
    try {
      const verdict = await this.#untilKept(setAside, topicMessage, message);
      return mayTake() ? verdict : "stop";
    } catch (error) {
      this.#options.events.onFault(this.topicFilter, error);
      return "leave";
    }
  }

  /** Tries until the message is durable, or nobody waits for its acknowledgement any more. */
  async #untilKept(
    keep: TakeTopicMessage,
    message: TopicMessage,
    { isCurrent }: BrokerMessage,
  ): Promise<Verdict> {
    try {
      for (let holdMs = HOLD_MS_MIN; ; holdMs = Math.min(2 * holdMs, HOLD_MS_MAX)) {
        const kept = await keep(message);
        if (kept.ok) return "acknowledge";
        if (kept.error.kind !== "unavailable") throw new Error(`A message can't be kept: ${kept.error.kind}`);
        this.#isHeld = true;
        this.#options.events.onHeld(this.topicFilter, kept.error);
        await this.#pause(holdMs);
        if (this.#isStopping || !isCurrent()) return "stop";
      }
    } finally {
      this.#isHeld = false;
    }
  }

  #noteUnassured(): void {
    if (this.unassured++ === 0) this.#options.events.onUnassured(this.topicFilter);
  }

  /** Waits, unless it is told to stop. */
  async #pause(forMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, forMs);
    await Promise.race([promise, this.#stopping.promise]);
    clearTimeout(timer);
  }
}

const NOTHING = () => undefined;
