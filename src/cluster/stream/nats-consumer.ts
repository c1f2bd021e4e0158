import { AckPolicy, DeliverPolicy, type JetStreamManager } from "@nats-io/jetstream";
import { createInbox, type Msg, nanos, type Subscription } from "@nats-io/transport-node";
import { streamErrorOf } from "./nats-errors.ts";
import type { NatsLink } from "./nats-link.ts";

/** The size of a request; the next request is sent once no more than this is queued. */
const REQUEST_MESSAGES = 512;
const REQUEST_BYTES_MIN = 8 * 1024 * 1024;
/** Space for a message's subject and reply subject. */
const FRAME_BYTES_MAX = 64 * 1024;

const HEARTBEAT_MS = 1000;
/** A request without a message expires after this time. */
const REQUEST_MS = 30_000;

/** Timeouts are counted in timer ticks instead of time, so that they pause while this process is busy. */
const TICK_MS = 250;
const SILENT_TICKS_MAX = 10;
const IDLE_TICKS = 20;

/** The status of a request that is complete: by its number of messages, or by their size. */
const REQUEST_DONE = /^(batch completed|message size exceeds)/i;

/** The servers remove a consumer without requests after this time. */
const FORGOTTEN_MS = 5 * 60_000;

export interface ReadMessage {
  readonly number: number;
  readonly subject: string;
  /** When the servers accepted it, by their clock. */
  readonly writtenMs: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The value of a header, or an empty string. */
  header(name: string): string;
}

/** `idle`: no message for 5 s although the consumer is alive. `ended`: no message will come. */
export type ConsumerEvent = "message" | "idle" | "ended";

/**
 * Reads a stream from a message on, through a NATS consumer in a server's memory. It ends with the connection, or after
 * a silence; the caller then opens a new one. The library's own consumers hang for more than half a minute after their
 * server was killed.
 */
export class NatsConsumer {
  readonly #link: NatsLink;
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #consumerName: string;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  readonly #forgetLoss: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #queue: ReadMessage[] = [];
  #queuedBytes = 0;
  /** Requested messages that are outstanding. */
  #requested = 0;
  #requests = 0;
  #silentTicks = 0;
  #idleTicks = 0;
  #hasEnded = false;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  private constructor(link: NatsLink, manager: JetStreamManager, stream: string, consumerName: string) {
    this.#link = link;
    this.#manager = manager;
    this.#stream = stream;
    this.#consumerName = consumerName;
    this.#subscription = link.connection.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => this.#receive(error, message),
    });
    this.#forgetLoss = link.onLoss(() => this.close());
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** Rejects with a `StreamError`. */
  static async open(
    link: NatsLink,
    manager: JetStreamManager,
    stream: string,
    from: number,
  ): Promise<NatsConsumer> {
    const { name } = await link.ask(`read the stream "${stream}"`, () =>
      manager.consumers.add(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: from,
        ack_policy: AckPolicy.None,
        inactive_threshold: nanos(FORGOTTEN_MS),
        mem_storage: true,
        num_replicas: 1,
      }),
    );
    const consumer = new NatsConsumer(link, manager, stream, name);
    consumer.#request();
    return consumer;
  }

  /** Returns null if no message is queued. */
  take(): ReadMessage | null {
    // Frees each message now: a slow caller may not empty the queue before the stream ends.
    const message = this.#queue.shift();
    if (message === undefined) return null;
    this.#queuedBytes -= message.bytes.length;
    this.#request();
    return message;
  }

  /** Call it when `take` returned null. Rejects with a `StreamError` if the servers refuse us. */
  async wait(): Promise<ConsumerEvent> {
    if (this.#failure !== null) throw streamErrorOf(this.#failure, `read the stream "${this.#stream}"`);
    if (this.#queue.length > 0) return "message";
    if (this.#hasEnded) return "ended";
    if (this.#idleTicks >= IDLE_TICKS) {
      this.#idleTicks = 0;
      return "idle";
    }
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    return this.wait();
  }

  /** May be called more than once. */
  close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#timer);
    this.#forgetLoss();
    this.#wakeUp();
    this.#subscription.unsubscribe();
    if (!this.#link.isConnected) return;
    // The servers would remove it after a while.
    this.#manager.consumers.delete(this.#stream, this.#consumerName).catch(() => undefined);
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #request(): void {
    if (this.#requested > 0 || this.#hasEnded) return;
    const requestBytes = this.#requestBytes();
    if (this.#queue.length > REQUEST_MESSAGES || this.#queuedBytes > requestBytes) return;
    this.#requests++;
    this.#requested = REQUEST_MESSAGES;
    this.#silentTicks = 0;
    const request = {
      batch: REQUEST_MESSAGES,
      max_bytes: requestBytes,
      expires: nanos(REQUEST_MS),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${this.#consumerName}`;
    this.#link.connection.publish(subject, JSON.stringify(request), { reply: this.#replyTo });
  }

  /** Names the last request, so that the status of an earlier one is not mistaken for its own. */
  get #replyTo(): string {
    return `${this.#inbox}.${this.#requests}`;
  }

  /** At least the size of the largest message, which would not come otherwise. */
  #requestBytes(): number {
    return Math.max(REQUEST_BYTES_MIN, this.#link.payloadBytesMax + FRAME_BYTES_MAX);
  }

  #receive(error: Error | null, message: Msg): void {
    if (this.#hasEnded) return;
    this.#silentTicks = 0;
    if (error !== null) {
      this.#failure = error;
      this.close();
    } else if (message.subject.startsWith(this.#inbox)) {
      const { code = 0, description = "" } = message.headers ?? {};
      if (message.subject === this.#replyTo) this.#takeStatus(code, description);
    } else {
      this.#queue.push(copyOf(message));
      this.#queuedBytes += message.data.length;
      this.#requested--;
      this.#idleTicks = 0;
      this.#request();
      this.#wakeUp();
    }
  }

  /** Any status except the heartbeat ends the request; most mean that the consumer is gone. */
  #takeStatus(code: number, description: string): void {
    if (code === 100) return;
    this.#requested = 0;
    if (code === 408 || (code === 409 && REQUEST_DONE.test(description))) this.#request();
    else this.close();
  }

  #tick(): void {
    this.#idleTicks++;
    if (this.#requested > 0 && ++this.#silentTicks > SILENT_TICKS_MAX) this.close();
    else if (this.#idleTicks >= IDLE_TICKS) this.#wakeUp();
  }
}

/** Copies the message: the library's bytes are a view into a socket buffer, unaligned. */
function copyOf(message: Msg): ReadMessage {
  const bytes = new Uint8Array(message.data.length);
  bytes.set(message.data);
  const { headers } = message;
  return {
    ...positionOf(message.reply ?? ""),
    subject: message.subject,
    bytes,
    header: (name) => headers?.get(name) ?? "",
  };
}

/**
 * Parses the reply subject, `$JS.ACK.STREAM.CONSUMER.DELIVERIES.NUMBER.POSITION.TIME.PENDING` with the time in
 * nanoseconds. It may have a domain and an account after `ACK`.
 */
function positionOf(reply: string): Pick<ReadMessage, "number" | "writtenMs"> {
  const tokens = reply.split(".");
  const at = tokens.length === 9 ? 5 : 7;
  return { number: Number(tokens[at]), writtenMs: Math.floor(Number(tokens[at + 2]) / 1e6) };
}
