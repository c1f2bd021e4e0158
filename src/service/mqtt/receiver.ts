import { topicParts } from "../../clients/owntracks/claim.ts";
import type { Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { BrokerConnection, BrokerListener, BrokerMessage, Verdict } from "../../runtime/broker.ts";
import { MessageRate } from "./message-rate.ts";
import { filtersBeside, filtersOverlap, UnheardTopics } from "./topic-filter.ts";

/*
 * One connection to a broker. A message is acknowledged once it is durable, as points or in the quarantine; until then
 * the broker stores it. If the store can't accept a message, it is retried, and the connection receives no others
 * meanwhile.
 */

/** The delay before the first retry; doubled each time. */
const HOLD_MS_MIN = 200;
const HOLD_MS_MAX = 10_000;

export interface TopicMessage {
  readonly topic: string;
  readonly body: Uint8Array;
  readonly arrivedMs: number;
}

/** Resolves once the message is durable, or with the reason why it can't be at the moment. */
export type StoreTopicMessage = (message: TopicMessage) => Promise<Result<unknown, ServiceError>>;

/** Events of a connection that an operator should know about. */
export interface ReceiverEvents {
  /** `mayHaveMissed` if the broker has no session of ours, and so no queued messages. */
  onConnected(topicFilter: string, mayHaveMissed: boolean): void;
  onDisconnected(topicFilter: string, reason: string): void;
  /** The broker refuses the subscription. */
  onRefused(topicFilter: string, reason: string): void;
  /** Messages wait until the store can accept them. */
  onHeld(topicFilter: string, error: ServiceError): void;
  /** A phone publishes with QoS 0, so messages that it sends while the server is away are lost. */
  onUnassured(topicFilter: string): void;
  /** Positions arrive under topics with a number of levels that the filter doesn't match. */
  onUnheard(topicFilter: string, levels: number): void;
  /** A message met a bug and went to the quarantine. If that failed too, the broker still has it. */
  onFault(topicFilter: string, error: unknown): void;
}

export interface ReceiverOptions {
  readonly topicFilter: string;
  /** The filters of all connections; topics that match one of them are not unheard. */
  readonly topicFilters: readonly string[];
  readonly clock: Clock;
  readonly ingestMessage: StoreTopicMessage;
  /** Stores a message unparsed after a bug. */
  readonly quarantineMessage: StoreTopicMessage;
  readonly events: ReceiverEvents;
  /** Whether this process may take messages; called before one is taken, and before it is acknowledged. */
  readonly mayTake: () => boolean;
  connect(listener: BrokerListener): BrokerConnection;
}

export class Receiver {
  readonly topicFilter: string;
  /** Messages by result. */
  readonly counts = { taken: 0, faulty: 0 };
  /** Messages that the broker would not have sent again. */
  unassured = 0;
  /** Positions under topics that no filter matches. */
  readonly unheard = new UnheardTopics();
  readonly #options: ReceiverOptions;
  readonly #connection: BrokerConnection;
  readonly #rate = new MessageRate();
  readonly #stopping = Promise.withResolvers<void>();
  /** Settles when no message is in progress. */
  #current: Promise<unknown> = Promise.resolve();
  #isConnected = false;
  #isSubscribed = false;
  #isHeld = false;
  #isStopping = false;
  /** Some brokers disconnect a client that subscribes to topics which it may not read. */
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

  /** Stops receiving, finishes the message in progress unless the store refuses it, and disconnects from the broker. */
  async close(): Promise<void> {
    this.#isStopping = true;
    this.#stopping.resolve();
    await this.#current;
    await this.#connection.close();
  }

  /** Stops receiving and acknowledging; the broker delivers the message in progress to another node. */
  drop(): void {
    this.#isStopping = true;
    this.#stopping.resolve();
    this.#connection.drop();
  }

  async #onConnected(connection: BrokerConnection, hasSession: boolean): Promise<void> {
    const { topicFilter, events } = this.#options;
    this.#isConnected = true;
    events.onConnected(topicFilter, !hasSession);
    // A session may lack the subscription if the process ended right after the session began.
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

  /** One message at a time: a closed connection may leave one in progress, which the next connection delivers again. */
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
        return "leave"; // It may or may not be durable.
      });
    // A failed message must not block the next ones.
    this.#current = verdict.then(NOTHING, NOTHING);
    return verdict;
  }

  /** A topic that a filter matches may have too few levels to name a device. */
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
    const { ingestMessage, quarantineMessage } = this.#options;
    const topicMessage = { topic: message.topic, body: message.body, arrivedMs };
    try {
      const verdict = await this.#untilStored(ingestMessage, topicMessage, message);
      if (verdict === "acknowledge") this.counts.taken++;
      return mayTake() ? verdict : "stop";
    } catch (error) {
      this.#noteFault(error);
    }
    // A message that causes a failure must not block the next ones.
    try {
      const verdict = await this.#untilStored(quarantineMessage, topicMessage, message);
      return mayTake() ? verdict : "stop";
    } catch (error) {
      this.#options.events.onFault(this.topicFilter, error);
      return "leave";
    }
  }

  /** Retries until the message is durable, or its acknowledgement is not needed any more. */
  async #untilStored(
    store: StoreTopicMessage,
    message: TopicMessage,
    { isCurrent }: BrokerMessage,
  ): Promise<Verdict> {
    try {
      for (let holdMs = HOLD_MS_MIN; ; holdMs = Math.min(2 * holdMs, HOLD_MS_MAX)) {
        const stored = await store(message);
        if (stored.ok) return "acknowledge";
        if (stored.error.kind !== "unavailable")
          throw new Error(`A message can't be stored: ${stored.error.kind}`);
        this.#isHeld = true;
        this.#options.events.onHeld(this.topicFilter, stored.error);
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

  /** Waits, unless the receiver stops. */
  async #pause(forMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, forMs);
    await Promise.race([promise, this.#stopping.promise]);
    clearTimeout(timer);
  }
}

const NOTHING = () => undefined;
