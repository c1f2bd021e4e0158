import { systemTimers } from "../../lib/schedule/timers.ts";
import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { BrokerOptions, ConnectBroker } from "../../runtime/broker.ts";
import type { Files } from "../../runtime/files.ts";
import type { MqttStatus } from "../metrics/service-metrics.ts";
import type { BrokerMessages } from "./broker-messages.ts";
import { clientIdOf, senderIdOf } from "./client-id.ts";
import { EventSender, type EventSenderOptions } from "./event-sender.ts";
import { outageSecondsMax } from "./message-rate.ts";
import { Receiver, type ReceiverEvents } from "./receiver.ts";

/*
 * The server as a client of an operator's MQTT broker, with a connection for each topic filter. The start does not wait
 * for a broker that is down: connections are made when they can be.
 */

/** A broker that apps publish to, and how to use it. */
export interface MqttConfig {
  readonly broker: BrokerAddress;
  /** From the environment; null if there is none, or it is in a file. */
  readonly password: string | null;
  readonly passwordFile: string | null;
  /** Trusted certificates in PEM for the broker; null for those that the runtime trusts. */
  readonly authoritiesFile: string | null;
  /** Each has its own connection; no topic matches two of them. */
  readonly topicFilters: readonly string[];
  /** The app that reports belong to. */
  readonly appId: AppId;
  /** The apps whose events of geofences and alerts are published. */
  readonly eventApps: readonly AppId[];
  /** The broker's limit of queued messages for a client that is away. */
  readonly queuedMessagesMax: number;
}

export interface BrokerAddress {
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly user: string | null;
}

/** Events of all connections that an operator should know about. */
export interface MqttEvents extends ReceiverEvents {
  /** The connection that publishes events of geofences and alerts. */
  onSenderConnected(): void;
  onSenderDisconnected(reason: string): void;
}

export interface MqttOptions {
  readonly config: MqttConfig;
  readonly files: Files;
  readonly clock: Clock;
  /** The name for client ids, the same after each start. */
  readonly clientName: string;
  loadBroker(): Promise<ConnectBroker>;
  readonly messages: BrokerMessages;
  readonly events: MqttEvents;
  /** The events of geofences and alerts, and how far the broker has them. */
  readonly source: Pick<EventSenderOptions, "events" | "positions">;
  /** Called with a sentence for the operator. */
  onNote(note: string): void;
  /** Whether this process may take messages now. */
  readonly mayTake: () => boolean;
}

/** The connections for all topic filters. */
export interface Mqtt {
  readonly status: MqttStatus;
  /** Finishes the message in progress, and disconnects from the broker. */
  close(): Promise<void>;
  /** Ends immediately, and acknowledges nothing more. */
  drop(): void;
}

/**
 * Reads the files of the configuration; the result connects. Throws a `FileError` if password or certificates can't be
 * read.
 */
export async function prepareMqtt(options: MqttOptions): Promise<() => Mqtt> {
  const broker = await readBroker(options.config, options.files);
  const connect = await options.loadBroker();
  return () => openMqtt(options, broker, connect);
}

function openMqtt(options: MqttOptions, broker: CommonOptions, connect: ConnectBroker): Mqtt {
  const { config, clock, clientName, messages, events, mayTake } = options;
  const receivers = config.topicFilters.map((topicFilter) => {
    const clientId = clientIdOf(clientName, topicFilter);
    return new Receiver({
      topicFilter,
      topicFilters: config.topicFilters,
      clock,
      ...messages,
      events,
      mayTake,
      connect: (listener) => connect({ ...broker, clientId, keepsSession: true }, listener),
    });
  });
  const sender = openSender(options, broker, connect);
  return {
    get status() {
      return { ...statusOf(receivers, config.queuedMessagesMax), events: sender?.status ?? null };
    },
    async close() {
      await Promise.all([...receivers, sender].map((each) => each?.close()));
    },
    drop() {
      for (const each of [...receivers, sender]) each?.drop();
    },
  };
}

/** Null if no app's events are published. */
function openSender(
  { config, clock, clientName, events, source, mayTake, onNote }: MqttOptions,
  broker: CommonOptions,
  connect: ConnectBroker,
): EventSender | null {
  if (config.eventApps.length === 0) return null;
  const clientId = senderIdOf(clientName);
  return new EventSender({
    appIds: config.eventApps,
    ...{ ...source, clock, timers: systemTimers, mayPublish: mayTake, onNote },
    connect: (listener) => connect({ ...broker, clientId, keepsSession: false }, listener),
    onConnected: events.onSenderConnected,
    onDisconnected: events.onSenderDisconnected,
  });
}

/** What all connections have alike. */
type CommonOptions = Omit<BrokerOptions, "clientId" | "keepsSession">;

async function readBroker(
  { broker, password, passwordFile, authoritiesFile }: MqttConfig,
  files: Pick<Files, "read">,
): Promise<CommonOptions> {
  const readText = async (path: string) => new TextDecoder().decode(await files.read(path));
  const { hostname, port, isSecure, user } = broker;
  const authorities = authoritiesFile === null ? null : await readText(authoritiesFile);
  return {
    hostname,
    port,
    tls: isSecure ? { authorities } : null,
    user,
    // Editors end a file with a line break, which is not part of the password.
    password: passwordFile === null ? password : (await readText(passwordFile)).replace(/\r?\n$/, ""),
  };
}

const TOPICS_SHOWN_MAX = 10;

function statusOf(receivers: readonly Receiver[], queuedMessagesMax: number): Omit<MqttStatus, "events"> {
  const countOf = (holds: (receiver: Receiver) => boolean) => receivers.filter(holds).length;
  const sumOf = (count: (receiver: Receiver) => number) =>
    receivers.reduce((sum, receiver) => sum + count(receiver), 0);
  const outages = receivers.flatMap(({ messagesPerSecond }) => {
    const seconds =
      messagesPerSecond === null ? null : outageSecondsMax(queuedMessagesMax, messagesPerSecond);
    return seconds === null ? [] : [seconds];
  });
  return {
    connections: receivers.length,
    connected: countOf(({ isConnected }) => isConnected),
    held: countOf(({ isHeld }) => isHeld),
    messages: {
      taken: sumOf(({ counts }) => counts.taken),
      faulty: sumOf(({ counts }) => counts.faulty),
    },
    unassured: sumOf(({ unassured }) => unassured),
    unheard: {
      count: sumOf(({ unheard }) => unheard.count),
      topics: receivers.flatMap(({ unheard }) => unheard.topics).slice(0, TOPICS_SHOWN_MAX),
    },
    isElsewhere: false,
    outageSeconds: outages.length === 0 ? null : Math.min(...outages), // The limit is per client.
  };
}
