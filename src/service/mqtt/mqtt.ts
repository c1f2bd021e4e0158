import type { AppId } from "../../model/ids.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { BrokerOptions, ConnectBroker } from "../../runtime/broker.ts";
import type { Files } from "../../runtime/files.ts";
import type { MqttStatus } from "../metrics/service-metrics.ts";
import type { BrokerMessages } from "./broker-messages.ts";
import { clientIdOf } from "./client-id.ts";
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
  /** The broker's limit of queued messages for a client that is away. */
  readonly queuedMessagesMax: number;
}

export interface BrokerAddress {
  readonly hostname: string;
  readonly port: number;
  readonly isSecure: boolean;
  readonly user: string | null;
}

export interface MqttOptions {
  readonly config: MqttConfig;
  readonly files: Files;
  readonly clock: Clock;
  /** The name for client ids, the same after each start. */
  readonly clientName: string;
  loadBroker(): Promise<ConnectBroker>;
  readonly messages: BrokerMessages;
  readonly events: ReceiverEvents;
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

function openMqtt(
  { config, clock, clientName, messages, events, mayTake }: MqttOptions,
  broker: Omit<BrokerOptions, "clientId">,
  connect: ConnectBroker,
): Mqtt {
  const receivers = config.topicFilters.map(
    (topicFilter) =>
      new Receiver({
        topicFilter,
        topicFilters: config.topicFilters,
        clock,
        ...messages,
        events,
        mayTake,
        connect: (listener) =>
          connect({ ...broker, clientId: clientIdOf(clientName, topicFilter) }, listener),
      }),
  );
  return {
    get status() {
      return statusOf(receivers, config.queuedMessagesMax);
    },
    async close() {
      await Promise.all(receivers.map((receiver) => receiver.close()));
    },
    drop() {
      for (const receiver of receivers) receiver.drop();
    },
  };
}

async function readBroker(
  { broker, password, passwordFile, authoritiesFile }: MqttConfig,
  files: Pick<Files, "read">,
): Promise<Omit<BrokerOptions, "clientId">> {
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

function statusOf(receivers: readonly Receiver[], queuedMessagesMax: number): MqttStatus {
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
