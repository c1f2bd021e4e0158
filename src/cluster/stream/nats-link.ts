import type { JetStreamManager, StreamInfo } from "@nats-io/jetstream";
import {
  AuthorizationError,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type Status,
} from "@nats-io/transport-node";
import { messageOf } from "../../lib/message-of.ts";
import { streamErrorOf } from "./nats-errors.ts";
import { type StreamAddress, type StreamCredentials, StreamError } from "./stream.ts";

/** From one attempt to reach a server to the next; drawn anew each time, so that nodes don't come all at once. */
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2000;

/** For a connection and its handshakes. */
const DIAL_MS_MAX = 3000;

/** A server that was stopped keeps its connections open: what answers none of two pings is left for another. */
const PING_MS = 1000;
const PINGS_OUT_MAX = 2;

/** A wait before the next attempt, in milliseconds. */
export function retryMs(): number {
  return RETRY_MS_MIN + Math.random() * (RETRY_MS_MAX - RETRY_MS_MIN);
}

/** The connection to one server at a time. The library makes it anew by itself, for ever. */
export class NatsLink {
  readonly connection: NatsConnection;
  #payloadBytesMax = 0;
  #isConnected = true;
  #isClosed = false;
  readonly #onNote: (note: string) => void;
  readonly #lossListeners = new Set<() => void>();
  readonly #findListeners = new Set<() => void>();

  constructor(connection: NatsConnection, onNote: (note: string) => void) {
    this.connection = connection;
    this.#payloadBytesMax = this.payloadBytesMax;
    this.#onNote = onNote;
    void this.#followStatus();
  }

  /** Where it is not, what is sent is lost. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Of a message with its headers: what the last server said that told of itself. One that is dialled has not yet. */
  get payloadBytesMax(): number {
    this.#payloadBytesMax = this.connection.info?.max_payload ?? this.#payloadBytesMax;
    return this.#payloadBytesMax;
  }

  /** Calls once this connection is lost, unless the result was called before. */
  onLoss(listener: () => void): () => void {
    this.#lossListeners.add(listener);
    return () => this.#lossListeners.delete(listener);
  }

  /** Calls whenever there is a connection again, and once there will be none, until the result is called. */
  onFind(listener: () => void): () => void {
    this.#findListeners.add(listener);
    return () => this.#findListeners.delete(listener);
  }

  /** Resolves once there is a connection, after so many milliseconds at most, or once the signal is aborted. */
  async connected(waitMsMax: number, signal?: AbortSignal): Promise<void> {
    if (this.#isConnected || this.#isClosed || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        forget();
        resolve();
      };
      const timer = setTimeout(done, waitMsMax);
      signal?.addEventListener("abort", done);
      const forget = this.onFind(done);
    });
  }

  /** The answer of a server, or a `StreamError` as soon as the connection that it would come by is lost. */
  async ask<Answer>(doing: string, question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.untilLoss(question);
    } catch (error) {
      throw streamErrorOf(error, doing);
    }
  }

  /** As `ask`, with the library's own errors. */
  untilLoss<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(new errors.ClosedConnectionError());
    if (!this.#isConnected)
      return Promise.reject(new errors.ConnectionError("there is no connection to a server"));
    return new Promise((resolve, reject) => {
      const lost = () => reject(new errors.ConnectionError("the connection was lost"));
      const forget = this.onLoss(lost);
      question().then(resolve, reject).finally(forget);
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const closed = this.connection.close();
    this.#lose();
    for (const listener of [...this.#findListeners]) listener();
    await closed;
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.connection.status()) this.#take(status);
    if (this.#isClosed) return;
    this.#lose();
    this.#onNote("The connection to NATS was given up: start anew.");
  }

  #take(status: Status): void {
    if (this.#isClosed) return;
    if (status.type === "disconnect") {
      if (this.#isConnected) this.#onNote(`The connection to the NATS server ${status.server} was lost.`);
      this.#lose();
    } else if (status.type === "reconnect") {
      this.#isConnected = true;
      this.#onNote(`There is a connection to the NATS server ${status.server} again.`);
      for (const listener of [...this.#findListeners]) listener();
    } else if (status.type === "ldm") {
      this.#onNote(`The NATS server ${status.server} is about to stop.`);
    } else if (status.type === "error") {
      this.#onNote(`NATS: ${messageOf(status.error)}.`);
    }
  }

  #lose(): void {
    this.#isConnected = false;
    const listeners = [...this.#lossListeners];
    this.#lossListeners.clear();
    for (const listener of listeners) listener();
  }
}

const WHAT_OPENS_THEM =
  ". What opens the servers is in WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, WHEREHOUSE_NATS_TOKEN, or " +
  "WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file";

/** Rejects with a `StreamError` where no server can be reached, or takes us. */
export async function openLink(address: StreamAddress, onNote: (note: string) => void): Promise<NatsLink> {
  try {
    const options = connectionOptions(address);
    await knock(options);
    return new NatsLink(await connect(options), onNote);
  } catch (error) {
    const isRefused = error instanceof AuthorizationError;
    const servers = address.servers.join(", ");
    const told = `Cannot connect to NATS at ${servers}: ${messageOf(error)}${isRefused ? WHAT_OPENS_THEM : ""}`;
    throw new StreamError(isRefused ? "refused" : "unreachable", told, error);
  }
}

/**
 * Rejects where none of the servers that were named takes us. Those that refuse us name others of their cluster before
 * they do, and the library would go on from one to the next for ever, a thousand times a second.
 */
async function knock(options: ConnectionOptions): Promise<void> {
  const connection = await connect({ ...options, ignoreClusterUpdates: true, reconnect: false });
  await connection.close();
}

function connectionOptions({
  servers,
  isSecure,
  credentials,
  authorities,
}: StreamAddress): ConnectionOptions {
  return {
    servers: [...servers],
    name: "wherehouse",
    maxReconnectAttempts: -1,
    reconnectDelayHandler: retryMs,
    ignoreAuthErrorAbort: true,
    timeout: DIAL_MS_MAX,
    pingInterval: PING_MS,
    maxPingOut: PINGS_OUT_MAX,
    noAsyncTraces: true,
    ...(isSecure ? { tls: authorities === null ? {} : { ca: authorities } } : {}),
    ...credentialOptions(credentials),
  };
}

function credentialOptions(credentials: StreamCredentials | null): ConnectionOptions {
  switch (credentials?.kind) {
    case undefined:
      return {};
    case "user":
      return { user: credentials.user, pass: credentials.password };
    case "token":
      return { token: credentials.token };
    case "file":
      return { authenticator: credsAuthenticator(new TextEncoder().encode(credentials.text)) };
  }
}

/**
 * A stream as its leader knows it; rejects with a `StreamError`. Where there is no leader any server answers with what
 * it has itself, which may lack what was acknowledged: that is no answer.
 */
export async function askStreamInfo(
  link: NatsLink,
  manager: JetStreamManager,
  name: string,
  options?: Parameters<JetStreamManager["streams"]["info"]>[1],
): Promise<StreamInfo> {
  const doing = `ask for the stream "${name}"`;
  const info = await link.ask(doing, () => manager.streams.info(name, options));
  const { replicas = [], leader = "" } = info.cluster ?? {};
  if (replicas.length > 0 && leader === "")
    throw new StreamError("unreachable", `Cannot ${doing}: it has no leader, so no majority of its servers`);
  return info;
}
