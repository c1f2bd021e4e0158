import type { MqttConfig } from "../config.ts";
import type { MqttStatus } from "../metrics/mqtt-metrics.ts";
import type { AppId } from "../model/ids.ts";
import { type BrokerMessagesDependencies, createBrokerMessages } from "../mqtt/broker-messages.ts";
import { type Mqtt, openMqtt } from "../mqtt/mqtt.ts";
import type { ReceiverEvents } from "../mqtt/receiver.ts";
import type { ConnectBroker } from "../runtime/broker/broker.ts";
import type { Files } from "../runtime/files.ts";
import type { Clock } from "../time/clock.ts";

/** What connections to a broker are made from. */
export interface BrokerLinkParts {
  /** Null where no broker is asked. */
  readonly config: MqttConfig | null;
  readonly files: Files;
  readonly directoryIdPath: string;
  readonly clock: Clock;
  loadBroker(): Promise<ConnectBroker>;
  readonly events: ReceiverEvents;
}

/** The connections to a broker, from when the directory is open until the service stops. */
export class BrokerLink {
  readonly #parts: BrokerLinkParts;
  #opening: Promise<Mqtt | null> = Promise.resolve(null);
  #mqtt: Mqtt | null = null;
  #isClosed = false;

  constructor(parts: BrokerLinkParts) {
    this.#parts = parts;
  }

  get status(): MqttStatus | null {
    return this.#mqtt?.status ?? null;
  }

  /** Where it brings reports to this app. */
  statusFor(appId: AppId): MqttStatus | null {
    return appId === this.#parts.config?.appId ? this.status : null;
  }

  /** Begins to take messages. Throws a `FileError` where a file that the operator named can't be read. */
  async open(services: Omit<BrokerMessagesDependencies, "appId">): Promise<void> {
    const { config, ...parts } = this.#parts;
    if (config === null || this.#isClosed) return;
    const messages = createBrokerMessages({ ...services, appId: config.appId });
    this.#opening = openMqtt({ ...parts, config, messages });
    this.#mqtt = await this.#opening;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const mqtt = await this.#opening.catch(() => null); // Whoever opened it has heard of it.
    await mqtt?.close();
  }
}
