import { connect as connectTcp, isIP } from "node:net";
import process from "node:process";
import { type Duplex, Transform } from "node:stream";
import { connect as connectTls } from "node:tls";
import type { IClientOptions, IPublishPacket, MqttClient } from "mqtt";
import { messageOf } from "../lib/message-of.ts";
import type {
  BrokerConnection,
  BrokerListener,
  BrokerMessage,
  BrokerOptions,
  ConnectBroker,
  Verdict,
} from "./broker.ts";
import { doneWithin } from "./listen.ts";
import { PacketCutter } from "./packet-cutter.ts";

/** The pause between attempts: doubled each time, and reset after a connection that lasted `LASTING_MS`. */
const RECONNECT_MS_MIN = 1000;
const RECONNECT_MS_MAX = 60_000;
const LASTING_MS = 10_000;

/** A connection that is silent for one and a half times this is closed. */
const KEEPALIVE_SECONDS = 60;

/** How long to wait for a clean disconnect. The broker notices the end anyway. */
const LEAVE_MS_MAX = 1000;

/** MQTT 3.1.1 with the package `mqtt`, which is loaded only if a broker is configured. */
export async function loadMqttBroker(): Promise<ConnectBroker> {
  delete process.env.DEBUG; // With DEBUG set, the package prints every packet, passwords included.
  const { MqttClient, Store } = await import("mqtt");
  return (options, listener) => {
    const client = new MqttClient(() => openStream(options), clientOptions(options));
    const connection = connectionOf(client, acknowledgeByVerdict(client, listener));
    followConnection(client, connection, listener);
    // The library would send unacknowledged messages over the next connection. The listener decides that anew.
    client.prependListener("close", () => {
      client.outgoing = {};
      client.outgoingStore = new Store();
    });
    client.connect();
    return connection;
  };
}

function clientOptions({ clientId, keepsSession, user, password }: BrokerOptions): IClientOptions {
  return {
    clientId,
    clean: !keepsSession,
    protocolVersion: 4,
    keepalive: KEEPALIVE_SECONDS,
    reconnectPeriod: RECONNECT_MS_MIN,
    reconnectOnConnackError: true,
    resubscribe: false, // The listener subscribes, and checks what was granted.
    manualConnect: true, // Messages of a stored session arrive with the first packets.
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
  };
}

/** Resolves once the message in progress has its verdict and its acknowledgement is sent. */
type AwaitAcknowledgement = () => Promise<void>;

/** The library sends the acknowledgement of a message once its callback is called without an error. */
function acknowledgeByVerdict(client: MqttClient, listener: BrokerListener): AwaitAcknowledgement {
  let underWay: Promise<void> = Promise.resolve();
  async function decide(packet: IPublishPacket): Promise<Verdict> {
    const { stream } = client;
    const isCurrent = () => client.connected && client.stream === stream;
    const { topic, payload, qos } = packet;
    const body = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
    const verdict = await listener.onMessage({ topic, body, qos, isCurrent } satisfies BrokerMessage);
    // On another connection the message's id may belong to another message, which is not stored yet.
    return isCurrent() ? verdict : "stop";
  }

  client.handleMessage = (packet, callback) => {
    underWay = decide(packet).then((verdict) => {
      if (verdict === "acknowledge") callback();
      else if (verdict === "leave") callback(new Error("not acknowledged"));
    });
  };
  return () => underWay;
}

function followConnection(client: MqttClient, connection: BrokerConnection, listener: BrokerListener): void {
  let reason: string | null = null;
  let connectedMs = Number.POSITIVE_INFINITY;
  client.on("connect", ({ sessionPresent }) => {
    connectedMs = performance.now();
    listener.onConnected(connection, sessionPresent);
  });
  client.on("error", (error) => {
    reason = messageOf(error);
  });
  // Runs before the library's own listener, which starts the reconnect timer.
  client.prependListener("close", () => {
    if (client.options.reconnectPeriod !== 0 && performance.now() - connectedMs > LASTING_MS)
      client.options.reconnectPeriod = RECONNECT_MS_MIN;
    connectedMs = Number.POSITIVE_INFINITY;
    listener.onDisconnected(reason ?? "the broker closed the connection");
    reason = null;
  });
  client.on("reconnect", () => {
    const periodMs = client.options.reconnectPeriod ?? RECONNECT_MS_MIN;
    client.options.reconnectPeriod = Math.min(2 * periodMs, RECONNECT_MS_MAX);
  });
}

function connectionOf(client: MqttClient, awaitAcknowledgement: AwaitAcknowledgement): BrokerConnection {
  return {
    subscribe: (topicFilter) =>
      new Promise((resolve) => {
        client.subscribe(topicFilter, { qos: 1 }, (error, granted = []) => {
          if (error !== null) resolve(messageOf(error));
          else resolve(granted[0]?.qos === 1 ? null : "it grants QoS 0 only, which loses messages");
        });
      }),
    listen: (topicFilters) =>
      new Promise((resolve) => {
        if (topicFilters.length === 0) resolve();
        else client.subscribe([...topicFilters], { qos: 0 }, () => resolve());
      }),
    publish(topic, body, onTaken) {
      client.publish(topic, body, { qos: 1 }, (error) => {
        if (error === undefined || error === null) onTaken();
      });
    },
    async close() {
      await awaitAcknowledgement(); // The broker ignores what follows the disconnect packet.
      client.options.reconnectPeriod = 0; // Otherwise the library would reconnect.
      const ended = new Promise((resolve) => client.end(!client.connected, {}, resolve));
      if (!(await doneWithin(ended, LEAVE_MS_MAX))) client.stream.destroy();
    },
    drop() {
      client.options.reconnectPeriod = 0;
      client.end(true);
    },
  };
}

/** Opens a new connection. The library reads it through a pipe, so the cutter sits there. */
function openStream({ hostname, port, tls }: BrokerOptions): Duplex {
  const stream =
    tls === null ? connectTcp({ host: hostname, port }) : openTls(hostname, port, tls.authorities);
  const pipe = stream.pipe.bind(stream);
  stream.pipe = (reader) => pipe(createCutting()).pipe(reader);
  return stream;
}

function openTls(
  hostname: string,
  port: number,
  authorities: string | null,
): Duplex & ReturnType<typeof connectTls> {
  return connectTls({
    host: hostname,
    port,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(authorities === null ? {} : { ca: authorities }),
  });
}

function createCutting(): Transform {
  const cutter = new PacketCutter();
  return new Transform({
    transform(bytes: Uint8Array, _encoding, done) {
      for (const left of cutter.cut(bytes)) this.push(left);
      done();
    },
  });
}
