import { AckPolicy, DeliverPolicy, type JetStreamManager } from "@nats-io/jetstream";
import { createInbox, type Msg, nanos, type Subscription } from "@nats-io/transport-node";
import { streamErrorOf } from "./nats-errors.ts";
import type { NatsLink } from "./nats-link.ts";

/** What is asked for at once; the next is asked for once no more than this waits to be taken. */
const ASKED_MESSAGES = 512;
const ASKED_BYTES_MIN = 8 * 1024 * 1024;
/** Of a message, beside what counts as its payload: its subject, and where its acknowledgement would go. */
const FRAME_BYTES_MAX = 64 * 1024;

const HEARTBEAT_MS = 1000;
/** A request that brought nothing is asked anew after this long. */
const REQUEST_MS = 30_000;

/** Counted in turns of a timer and not by the clock, since none of them passes while we ourselves are busy. */
const TICK_MS = 250;
const SILENT_TICKS_MAX = 10;
const IDLE_TICKS = 20;

/** Said of requests that are answered: with as many messages, or with as many bytes as the next one leaves room for. */
const REQUEST_DONE = /^(batch completed|message size exceeds)/i;

/** The servers forget a reader that asks for nothing this long. */
const FORGOTTEN_MS = 5 * 60_000;

export interface ReadMessage {
  readonly number: number;
  readonly subject: string;
  /** When the servers took it, by their clock. */
  readonly writtenMs: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The value of a header, empty where there is none. */
  header(name: string): string;
}

/**
 * What became of waiting: there is a message; none has come for 5 s, though the reader lives; or no more will come.
 */
export type Waited = "message" | "idle" | "ended";

/**
 * The messages of a stream from a number on, through a reader (in NATS a consumer) that a server keeps for us in
 * memory. It has one life: it ends with the connection, or once nothing is heard of it; then another one is opened. The
 * library has such readers too, but they stand still for more than half a minute after their server was killed.
 */
export class NatsReading {
  readonly #link: NatsLink;
  readonly #manager: JetStreamManager;
  readonly #stream: string;
  readonly #reader: string;
  readonly #inbox = createInbox();
  readonly #subscription: Subscription;
  readonly #forgetLoss: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #queue: ReadMessage[] = [];
  #queuedBytes = 0;
  /** Messages that were asked for and have not come; 0 where nothing is asked for. */
  #asked = 0;
  #requests = 0;
  #silentTicks = 0;
  #idleTicks = 0;
  #hasEnded = false;
  #failure: Error | null = null;
  #wake: (() => void) | null = null;

  private constructor(link: NatsLink, manager: JetStreamManager, stream: string, reader: string) {
    this.#link = link;
    this.#manager = manager;
    this.#stream = stream;
    this.#reader = reader;
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
  ): Promise<NatsReading> {
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
    const reading = new NatsReading(link, manager, stream, name);
    reading.#ask();
    return reading;
  }

  /** Null where none has come yet. */
  take(): ReadMessage | null {
    // Not kept until the queue is empty: for who is slower than the servers that may be the end of the stream.
    const message = this.#queue.shift();
    if (message === undefined) return null;
    this.#queuedBytes -= message.bytes.length;
    this.#ask();
    return message;
  }

  /** To be called where there is none to take. Rejects with a `StreamError` where the servers don't let us read. */
  async wait(): Promise<Waited> {
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

  /** Nothing comes after it. May be called more than once. */
  close(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearInterval(this.#timer);
    this.#forgetLoss();
    this.#wakeUp();
    this.#subscription.unsubscribe();
    if (!this.#link.isConnected) return;
    // The servers would forget it by themselves after a while.
    this.#manager.consumers.delete(this.#stream, this.#reader).catch(() => undefined);
  }

  #wakeUp(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }

  #ask(): void {
    if (this.#asked > 0 || this.#hasEnded) return;
    const askedBytes = this.#askedBytes();
    if (this.#queue.length > ASKED_MESSAGES || this.#queuedBytes > askedBytes) return;
    this.#requests++;
    this.#asked = ASKED_MESSAGES;
    this.#silentTicks = 0;
    const request = {
      batch: ASKED_MESSAGES,
      max_bytes: askedBytes,
      expires: nanos(REQUEST_MS),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${this.#reader}`;
    this.#link.connection.publish(subject, JSON.stringify(request), { reply: this.#replyTo });
  }

  /** Of the last request, so that what is said of one before it is not taken for its own. */
  get #replyTo(): string {
    return `${this.#inbox}.${this.#requests}`;
  }

  /** Never less than one message needs, or it would not come at all. */
  #askedBytes(): number {
    return Math.max(ASKED_BYTES_MIN, this.#link.payloadBytesMax + FRAME_BYTES_MAX);
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
      this.#asked--;
      this.#idleTicks = 0;
      this.#ask();
      this.#wakeUp();
    }
  }

  /** The request is over with any status but the heartbeat; with most of them there is nobody to ask any more. */
  #takeStatus(code: number, description: string): void {
    if (code === 100) return;
    this.#asked = 0;
    if (code === 408 || (code === 409 && REQUEST_DONE.test(description))) this.#ask();
    else this.close();
  }

  #tick(): void {
    this.#idleTicks++;
    if (this.#asked > 0 && ++this.#silentTicks > SILENT_TICKS_MAX) this.close();
    else if (this.#idleTicks >= IDLE_TICKS) this.#wakeUp();
  }
}

/** The library's bytes are part of what came from the socket, at any place of it. */
function copyOf(message: Msg): ReadMessage {
  const bytes = new Uint8Array(message.data.length);
  bytes.set(message.data);
  const { headers } = message;
  return {
    ...placeOf(message.reply ?? ""),
    subject: message.subject,
    bytes,
    header: (name) => headers?.get(name) ?? "",
  };
}

/**
 * Of a message, from where its acknowledgement would go: `$JS.ACK.STREAM.READER.DELIVERIES.NUMBER.PLACE.TIME.PENDING`,
 * with the time in nanoseconds, or the same behind `$JS.ACK.DOMAIN.ACCOUNT.`.
 */
function placeOf(reply: string): Pick<ReadMessage, "number" | "writtenMs"> {
  const tokens = reply.split(".");
  const at = tokens.length === 9 ? 5 : 7;
  return { number: Number(tokens[at]), writtenMs: Math.floor(Number(tokens[at + 2]) / 1e6) };
}
