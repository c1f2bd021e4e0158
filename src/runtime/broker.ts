/**
 * A connection to an MQTT broker, in our words. It connects again by itself, for ever, until it is closed, and waits
 * longer from one failure to the next.
 */
export interface BrokerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Null for a connection in clear. */
  readonly tls: BrokerTls | null;
  readonly user: string | null;
  readonly password: string | null;
  /** The broker keeps a session under this name: what came while we were away. Nobody else may use it. */
  readonly clientId: string;
}

export interface BrokerTls {
  /** Certificates in PEM that the broker's must be signed by; null for those that the runtime trusts. */
  readonly authorities: string | null;
}

export interface BrokerMessage {
  readonly topic: string;
  /** Of a message of more than 16 MiB only its beginning (packet-cutter.ts). */
  readonly body: Uint8Array;
  /** What the broker does for its arrival: nothing with 0; with 1 it sends again what was not acknowledged. */
  readonly qos: number;
  /** Whether it came by the connection that there is now. Else no acknowledgement reaches the broker. */
  isCurrent(): boolean;
}

/**
 * What becomes of a message: the broker may forget it; it stays with the broker until the next connection, while others
 * go on; or nothing more is taken from this connection.
 */
export type Verdict = "acknowledge" | "leave" | "stop";

export interface BrokerListener {
  /** One at a time for each connection: the next comes after the verdict. */
  onMessage(message: BrokerMessage): Promise<Verdict>;
  /** `hasSession` tells whether the broker kept one, and with it our subscription and the messages meanwhile. */
  onConnected(connection: BrokerConnection, hasSession: boolean): void;
  /** The connection ended, or could not be made. */
  onDisconnected(reason: string): void;
}

export interface BrokerConnection {
  /** Asks for messages; null once the broker grants them with QoS 1, else why it does not. */
  subscribe(topicFilter: string): Promise<string | null>;
  /**
   * Asks for messages that need not come, with QoS 0: the broker keeps none of them while we are away. Resolves once it
   * has answered, whatever it says: some filters it may refuse.
   */
  listen(topicFilters: readonly string[]): Promise<void>;
  /** Takes leave of the broker, which keeps the session. */
  close(): Promise<void>;
  /** Ends at once: what is under way is acknowledged to nobody, and comes again to whoever has the session next. */
  drop(): void;
}

export type ConnectBroker = (options: BrokerOptions, listener: BrokerListener) => BrokerConnection;
