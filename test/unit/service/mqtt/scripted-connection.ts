import type { BrokerConnection, BrokerListener } from "../../../../src/runtime/broker.ts";

/** A message that was published. */
export interface PublishedMessage {
  readonly topic: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Acknowledges it. */
  take(): void;
}

/** A connection to a broker that does what a test says. */
export class ScriptedConnection implements BrokerConnection {
  readonly listener: BrokerListener;
  readonly messages: PublishedMessage[] = [];
  isDropped = false;

  constructor(listener: BrokerListener) {
    this.listener = listener;
  }

  connect(): void {
    this.listener.onConnected(this, false);
  }

  disconnect(): void {
    this.listener.onDisconnected("the test ended it");
  }

  /** Acknowledges all messages from the one at this index on. */
  takeFrom(index: number): void {
    for (const message of this.messages.slice(index)) message.take();
  }

  publish(topic: string, body: string, take: () => void): void {
    this.messages.push({ topic, body: JSON.parse(body), take });
  }

  drop(): void {
    this.isDropped = true;
  }

  subscribe = async () => null;
  listen = async () => {};
  close = async () => {};
}
