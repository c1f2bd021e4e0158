import { MQTT_LEASE_KEY } from "../cluster/buckets.ts";
import type { ClusterNode } from "../cluster/cluster-node.ts";
import { Lease } from "../cluster/lease.ts";
import { patiently } from "../cluster/repeat.ts";
import { readDirectoryId } from "../directory/paths.ts";
import { messageOf } from "../lib/message-of.ts";
import { systemTimers } from "../lib/schedule/timers.ts";
import type { AppId } from "../model/ids.ts";
import type { Clock } from "../model/time/clock.ts";
import type { ConnectBroker } from "../runtime/broker.ts";
import type { Files } from "../runtime/files.ts";
import type { MqttStatus } from "../service/metrics/service-metrics.ts";
import { type BrokerMessagesDependencies, createBrokerMessages } from "../service/mqtt/broker-messages.ts";
import { readClusterName } from "../service/mqtt/client-id.ts";
import { type Mqtt, type MqttConfig, type MqttEvents, prepareMqtt } from "../service/mqtt/mqtt.ts";
import { createOwnPositions, createSharedPositions } from "../service/mqtt/sent-positions.ts";
import type { EventStore } from "../service/watching/event-store.ts";

/** The dependencies of a `BrokerLink`. */
export interface BrokerLinkParts {
  /** Null if no broker is configured. */
  readonly config: MqttConfig | null;
  readonly files: Files;
  readonly directoryIdPath: string;
  readonly clock: Clock;
  /** Null for a single process. */
  readonly node: Pick<ClusterNode, "stream" | "shared" | "nodesBucket" | "nodeId" | "idPrefix"> | null;
  loadBroker(): Promise<ConnectBroker>;
  readonly events: BrokerLinkEvents;
  /** Called with a sentence for the operator. */
  onNote(note: string): void;
}

export interface BrokerLinkEvents extends MqttEvents {
  /** One node of a cluster receives from the broker: this node, another one, or this one no longer. */
  onLease(held: "here" | "elsewhere" | "lost"): void;
}

/** The status of a node while another one holds the connections. */
const ELSEWHERE: MqttStatus = {
  connections: 0,
  connected: 0,
  held: 0,
  messages: { taken: 0, faulty: 0 },
  unassured: 0,
  unheard: { count: 0, topics: [] },
  events: null,
  isElsewhere: true,
  outageSeconds: null,
};

/** What the connections need of the services. */
export interface BrokerServices extends Omit<BrokerMessagesDependencies, "appId"> {
  readonly events: () => EventStore;
}

/** The broker connections, from opening the directory until the stop. In a cluster only one node has them at a time. */
export class BrokerLink {
  readonly #parts: BrokerLinkParts;
  #opening: Promise<void> = Promise.resolve();
  #connect: (() => Mqtt) | null = null;
  #mqtt: Mqtt | null = null;
  #lease: Lease | null = null;
  readonly #closing = new AbortController();

  constructor(parts: BrokerLinkParts) {
    this.#parts = parts;
  }

  get status(): MqttStatus | null {
    return this.#mqtt?.status ?? (this.#lease === null ? null : ELSEWHERE);
  }

  /** The status for an app that a broker brings reports to. */
  statusFor(appId: AppId): MqttStatus | null {
    return appId === this.#parts.config?.appId ? this.status : null;
  }

  /** Starts to receive messages. Throws a `FileError` if a file that the operator named can't be read. */
  async open(services: BrokerServices): Promise<void> {
    const { config } = this.#parts;
    if (config === null || this.#closing.signal.aborted) return;
    this.#opening = this.#begin(config, services);
    await this.#opening;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#opening.catch(() => undefined); // The caller of `open` got the error.
    await this.#mqtt?.close();
    this.#mqtt = null;
    await this.#lease?.release();
  }

  async #begin(config: MqttConfig, services: BrokerServices): Promise<void> {
    const { files, directoryIdPath, node, onNote } = this.#parts;
    const onWaiting = (error: unknown) => onNote(messageOf(error));
    const messages = createBrokerMessages({ ...services, appId: config.appId });
    const clientName =
      node === null
        ? await readDirectoryId(files, directoryIdPath)
        : await patiently(
            () => readClusterName(node.shared, node.stream.name),
            onWaiting,
            this.#closing.signal,
          );
    const mayTake = () => node === null || this.#lease?.isHeld === true;
    const events = services.events();
    const own = createOwnPositions(events.database);
    const positions = node === null ? own : createSharedPositions(node.shared, own);
    const source = { events, positions };
    this.#connect = await prepareMqtt({ ...this.#parts, config, messages, source, clientName, mayTake });
    if (node === null) this.#mqtt = this.#connect();
    else if (!this.#closing.signal.aborted) this.#lease = this.#openLease(node);
  }

  #openLease({ nodesBucket, nodeId, idPrefix }: NonNullable<BrokerLinkParts["node"]>): Lease {
    const { events, onNote } = this.#parts;
    return new Lease({
      bucket: nodesBucket,
      key: MQTT_LEASE_KEY,
      nodeId,
      processId: idPrefix,
      timers: systemTimers,
      onHeld: () => {
        if (this.#closing.signal.aborted) return;
        events.onLease("here");
        this.#mqtt = this.#connect!();
      },
      onLost: () => {
        // Immediately: the broker delivers unacknowledged messages to the next node.
        this.#mqtt?.drop();
        this.#mqtt = null;
        events.onLease("lost");
      },
      onElsewhere: () => events.onLease("elsewhere"),
      onNote,
    });
  }
}
