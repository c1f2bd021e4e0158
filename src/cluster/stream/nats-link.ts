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

/** The pause between attempts to reach a server; random, so that nodes don't reconnect simultaneously. */
const RETRY_MS_MIN = 100;
const RETRY_MS_MAX = 2000;

/** The timeout for connecting, handshakes included. */
const DIAL_MS_MAX = 3000;

/** A suspended server keeps its connections open: after two unanswered pings it is replaced by another. */
const PING_MS = 1000;
const PINGS_OUT_MAX = 2;

export function retryMs(): number {
  return RETRY_MS_MIN + Math.random() * (RETRY_MS_MAX - RETRY_MS_MIN);
}

/** A connection to one server at a time. The library reconnects by itself, without end. */
export class NatsLink {
  readonly connection: NatsConnection;
  #payloadBytesMax = 0;
  #isConnected = true;
  #isClosed = false;
  readonly #onNote: (note: string) => void;
  readonly #lossListeners = new Set<() => void>();
  readonly #connectListeners = new Set<() => void>();

  constructor(connection: NatsConnection, onNote: (note: string) => void) {
    this.connection = connection;
    this.#payloadBytesMax = this.payloadBytesMax;
    this.#onNote = onNote;
    void this.#followStatus();
  }

  /** While it is false, sent data is lost. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The maximum size of a message with its headers, as the last connected server reported it. */
  get payloadBytesMax(): number {
    this.#payloadBytesMax = this.connection.info?.max_payload ?? this.#payloadBytesMax;
    return this.#payloadBytesMax;
  }

  /** Calls the listener when this connection is lost. The result cancels that. */
  onLoss(listener: () => void): () => void {
    this.#lossListeners.add(listener);
    return () => this.#lossListeners.delete(listener);
  }

  /** Calls the listener at each reconnect and at the final close. The result cancels that. */
  onConnect(listener: () => void): () => void {
    this.#connectListeners.add(listener);
    return () => this.#connectListeners.delete(listener);
  }

  /** Resolves once there is a connection, after `waitMsMax`, or when the signal is aborted. */
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
      const forget = this.onConnect(done);
    });
  }

  /** Resolves with the server's answer. Rejects with a `StreamError` as soon as the connection is lost. */
  async ask<Answer>(doing: string, question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await this.untilLoss(question);
    } catch (error) {
      throw streamErrorOf(error, doing);
    }
  }

  /** Like `ask`, but with the library's errors. */
  untilLoss<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(new errors.ClosedConnectionError());
    if (!this.#isConnected) return Promise.reject(new errors.ConnectionError("no server is connected"));
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
    for (const listener of [...this.#connectListeners]) listener();
    await closed;
  }

  async #followStatus(): Promise<void> {
    for await (const status of this.connection.status()) this.#take(status);
    if (this.#isClosed) return;
    this.#lose();
    this.#onNote("The connection to NATS was closed: restart the server.");
  }

  #take(status: Status): void {
    if (this.#isClosed) return;
    if (status.type === "disconnect") {
      if (this.#isConnected) this.#onNote(`The connection to the NATS server ${status.server} was lost.`);
      this.#lose();
    } else if (status.type === "reconnect") {
      this.#isConnected = true;
      this.#onNote(`The NATS server ${status.server} is connected again.`);
      for (const listener of [...this.#connectListeners]) listener();
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

const CREDENTIALS_HINT =
  ". The credentials are taken from WHEREHOUSE_NATS_USER and WHEREHOUSE_NATS_PASSWORD, WHEREHOUSE_NATS_TOKEN, or " +
  "WHEREHOUSE_NATS_CREDENTIALS, the path of a .creds file";

/** Rejects with a `StreamError` if no server can be reached, or accepts our credentials. */
export async function openLink(address: StreamAddress, onNote: (note: string) => void): Promise<NatsLink> {
  try {
    const options = connectionOptions(address);
    await knock(options);
    return new NatsLink(await connect(options), onNote);
  } catch (error) {
    const isRefused = error instanceof AuthorizationError;
    const servers = address.servers.join(", ");
    const text = `Cannot connect to NATS at ${servers}: ${messageOf(error)}${isRefused ? CREDENTIALS_HINT : ""}`;
    throw new StreamError(isRefused ? "refused" : "unreachable", text, error);
  }
}

/**
 * Rejects if no configured server accepts us. Servers that refuse us announce other servers of their cluster before
 * that, and the library would try one after another without end, a thousand times a second.
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
 * Asks the stream's leader; rejects with a `StreamError`. Without a leader any server answers with its own state, which
 * may lack acknowledged messages, so that answer is refused.
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
    throw new StreamError(
      "unreachable",
      `Cannot ${doing}: it has no leader, because its servers have no majority`,
    );
  return info;
}
