import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { type BucketTools, openBucket } from "./nats-bucket.ts";
import { streamErrorOf } from "./nats-errors.ts";
import { findMessageId, followStream } from "./nats-follow.ts";
import { askStreamInfo, openLink, retryMs } from "./nats-link.ts";
import { checkServers, NatsTrust } from "./nats-servers.ts";
import { checkSettings, prepareStream, subjectOf } from "./nats-settings.ts";
import {
  type Bucket,
  type BucketOptions,
  type OpenStream,
  type Stream,
  StreamError,
  type StreamMessage,
  type StreamOptions,
  type StreamState,
} from "./stream.ts";

/*
 * A replicated log on NATS JetStream, with three of its packages: `@nats-io/transport-node` connects to a server,
 * `@nats-io/jetstream` has streams and consumers, `@nats-io/kv` stores small values by name.
 */

/** The timeout of a request about the stream. */
const ASK_MS_MAX = 5000;

/** The timeout of a publish, with all its attempts. */
const PUBLISH_MS_MAX = 5000;

/**
 * The timeout of the first attempt; each later one gets this much more. A message that was sent while a leader was lost
 * is never answered, and slow servers should not get everything again and again.
 */
const ATTEMPT_MS = 1000;

/** The timeout for creating a consumer: if its server has stopped, another attempt uses another one. */
const READ_MS_MAX = 2000;

const SYNC_UNKNOWN =
  "The NATS servers don't report to this account whether they sync every write. " +
  'Make sure that each has "sync_interval: always".';

/** Space for the headers with the message's id and the stream's name. */
const HEADER_BYTES_MAX = 1024;

export const openNatsStream: OpenStream = async (options) => {
  const link = await openLink(options.address, options.onNote);
  try {
    const isReported = await checkServers(link);
    const managed = { checkAPI: false };
    const manager = await jetstreamManager(link.connection, { ...managed, timeout: ASK_MS_MAX });
    const reader = await jetstreamManager(link.connection, { ...managed, timeout: READ_MS_MAX });
    const { created, config } = await prepareStream(link, manager, options);
    if (!isReported) options.onNote(SYNC_UNKNOWN);
    const client = jetstream(link.connection, { timeout: ASK_MS_MAX });
    const checks = {
      servers: () => checkServers(link),
      settings: () => checkSettings(link, manager, options.address.stream),
    };
    const trust = new NatsTrust(link, checks, options.onNote);
    return new NatsStream(options, created, config.num_replicas, { link, manager, reader, client, trust });
  } catch (error) {
    await link.close();
    throw error;
  }
};

interface StreamTools extends BucketTools {
  readonly trust: NatsTrust;
}

class NatsStream implements Stream {
  readonly name: string;
  readonly created: string;
  readonly #replicas: number;
  readonly #tools: StreamTools;

  constructor({ address }: StreamOptions, created: string, replicas: number, tools: StreamTools) {
    this.name = address.stream;
    this.created = created;
    this.#replicas = replicas;
    this.#tools = tools;
  }

  get messageBytesMax(): number {
    return this.#tools.link.payloadBytesMax - HEADER_BYTES_MAX;
  }

  async publish(message: Uint8Array, id: string): Promise<number> {
    const untilMs = performance.now() + PUBLISH_MS_MAX;
    for (let attempt = 1; ; attempt++) {
      const leftMs = Math.max(1, untilMs - performance.now());
      try {
        return await this.#publishOnce(message, id, Math.min(leftMs, attempt * ATTEMPT_MS));
      } catch (error) {
        const failure = streamErrorOf(error, `publish to the stream "${this.name}"`);
        // Repeating is safe: the id is the same.
        const pauseMs = retryMs() / 10;
        const mayPass = failure.kind === "unreachable" && !this.#tools.link.isClosed;
        if (!mayPass || performance.now() + pauseMs > untilMs) throw failure;
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        if (performance.now() > untilMs) throw failure; // The servers may have forgotten the id.
      }
    }
  }

  async #publishOnce(message: Uint8Array, id: string, timeout: number): Promise<number> {
    const { link, client, trust } = this.#tools;
    await link.connected(timeout);
    await trust.confirm();
    const options = { msgID: id, timeout, expect: { streamName: this.name } };
    const { seq } = await link.untilLoss(() => client.publish(subjectOf(this.name), message, options));
    return seq;
  }

  async follow(
    from: number,
    onMessage: (message: StreamMessage) => Promise<void> | void,
    signal: AbortSignal,
  ): Promise<void> {
    const { link, reader } = this.#tools;
    const stream = { link, manager: reader, name: this.name, created: this.created };
    await followStream(stream, from, onMessage, signal);
    if (!signal.aborted) throw new StreamError("unreachable", `The stream "${this.name}" was closed.`);
  }

  async state(): Promise<StreamState> {
    const { link, manager } = this.#tools;
    const { state, created, config } = await askStreamInfo(link, manager, this.name);
    if (created !== this.created)
      throw new StreamError("gone", `The stream "${this.name}" was removed and created anew at ${created}.`);
    const bytesMax = config.max_bytes > 0 ? config.max_bytes : Number.POSITIVE_INFINITY;
    return { firstMessage: state.first_seq, lastMessage: state.last_seq, bytes: state.bytes, bytesMax };
  }

  async messageId(number: number): Promise<string | null> {
    const { link, manager } = this.#tools;
    return findMessageId({ link, manager, name: this.name, created: this.created }, number);
  }

  async purgeBefore(message: number): Promise<void> {
    const { link, manager } = this.#tools;
    const { lastMessage } = await this.state();
    const seq = Math.min(message, lastMessage + 1); // Beyond it the servers would skip numbers.
    await link.ask(`purge the stream "${this.name}"`, () => manager.streams.purge(this.name, { seq }));
  }

  async bucket(name: string, options: BucketOptions = {}): Promise<Bucket> {
    return openBucket(this.#tools, { ...options, name, replicas: this.#replicas });
  }

  close(): Promise<void> {
    this.#tools.trust.close();
    return this.#tools.link.close();
  }
}
