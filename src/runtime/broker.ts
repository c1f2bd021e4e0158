/** A connection to an MQTT broker. It reconnects with growing pauses until it is closed. */
export interface BrokerOptions {
  readonly hostname: string;
  readonly port: number;
  /** Null for an unencrypted connection. */
  readonly tls: BrokerTls | null;
  readonly user: string | null;
  readonly password: string | null;
  /** The broker knows the session by this name. No other client may use it. */
  readonly clientId: string;
  /** Whether the broker keeps the session, with the messages missed, while we are away. */
  readonly keepsSession: boolean;
}

export interface BrokerTls {
  /** Certificates in PEM that the broker's must be signed by; null for those that the runtime trusts. */
  readonly authorities: string | null;
}

export interface BrokerMessage {
  readonly topic: string;
  /** Truncated if the message is larger than 16 MiB (packet-cutter.ts). */
  readonly body: Uint8Array;
  /** 0: the broker sends it once. 1: the broker sends it again until it is acknowledged. */
  readonly qos: number;
  /** Whether the message's connection is still open. Otherwise an acknowledgement can't reach the broker. */
  isCurrent(): boolean;
}

/**
 * `acknowledge`: the broker may forget the message. `leave`: the broker keeps it until the next connection, and other
 * messages continue. `stop`: take nothing more from this connection.
 */
export type Verdict = "acknowledge" | "leave" | "stop";

export interface BrokerListener {
  /** Called for one message at a time: the next one comes after the verdict. */
  onMessage(message: BrokerMessage): Promise<Verdict>;
  /** `hasSession` tells whether the broker stored our session, with its subscription and missed messages. */
  onConnected(connection: BrokerConnection, hasSession: boolean): void;
  /** The connection ended or could not be opened. */
  onDisconnected(reason: string): void;
}

export interface BrokerConnection {
  /** Subscribes with QoS 1. Resolves with null if the broker grants that, else with the reason. */
  subscribe(topicFilter: string): Promise<string | null>;
  /** Subscribes with QoS 0, without storage while we are away. Resolves once answered, even if filters are refused. */
  listen(topicFilters: readonly string[]): Promise<void>;
  /**
   * Publishes with QoS 1. Calls back once the broker has the message; never if the connection ends before that, since
   * the message is then forgotten here.
   */
  publish(topic: string, body: string, onTaken: () => void): void;
  /** Disconnects; the broker keeps the session, if it keeps one. */
  close(): Promise<void>;
  /** Cuts the connection. Messages in progress are not acknowledged, so the broker sends them again. */
  drop(): void;
}

export type ConnectBroker = (options: BrokerOptions, listener: BrokerListener) => BrokerConnection;
