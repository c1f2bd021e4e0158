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

/** From one attempt to the next: doubled each time, and begun anew after a connection that lasted. */
const RECONNECT_MS_MIN = 1000;
const RECONNECT_MS_MAX = 60_000;
const LASTING_MS = 10_000;

/** A connection that says nothing for half as long again is given up. */
const KEEPALIVE_SECONDS = 60;

/** For the broker to hear that we leave; it would notice anyway. */
const LEAVE_MS_MAX = 1000;

/** By MQTT 3.1.1, over the package `mqtt`, which is loaded for those who have a broker. */
export async function loadMqttBroker(): Promise<ConnectBroker> {
  delete process.env.DEBUG; // Where it is set the package and those below it write every packet out, passwords too.
  const { MqttClient } = await import("mqtt");
  return (options, listener) => {
    const client = new MqttClient(() => openStream(options), clientOptions(options));
    const connection = connectionOf(client, acknowledgeByVerdict(client, listener));
    followConnection(client, connection, listener);
    client.connect();
    return connection;
  };
}

function clientOptions({ clientId, user, password }: BrokerOptions): IClientOptions {
  return {
    clientId,
    clean: false,
    protocolVersion: 4,
    keepalive: KEEPALIVE_SECONDS,
    reconnectPeriod: RECONNECT_MS_MIN,
    reconnectOnConnackError: true,
    resubscribe: false, // The listener does it, and knows whether it was granted.
    manualConnect: true, // What waits in a session comes with the first packets.
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
  };
}

/** Resolves once the message under way has its verdict, and the broker its acknowledgement. */
type SettleMessage = () => Promise<void>;

/** The library sends the acknowledgement of a message once its callback is called without an error. */
function acknowledgeByVerdict(client: MqttClient, listener: BrokerListener): SettleMessage {
  let underWay: Promise<void> = Promise.resolve();
  async function decide(packet: IPublishPacket): Promise<Verdict> {
    const { stream } = client;
    const isCurrent = () => client.connected && client.stream === stream;
    const { topic, payload, qos } = packet;
    const body = typeof payload === "string" ? new TextEncoder().encode(payload) : payload;
    const verdict = await listener.onMessage({ topic, body, qos, isCurrent } satisfies BrokerMessage);
    // On another connection the message's number may be that of another message, which nobody has taken yet.
    return isCurrent() ? verdict : "stop";
  }

  client.handleMessage = (packet, callback) => {
    underWay = decide(packet).then((verdict) => {
      if (verdict === "acknowledge") callback();
      else if (verdict === "leave") callback(new Error("not taken"));
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
  // Before the library's own listener, which sets the timer.
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

function connectionOf(client: MqttClient, settleMessage: SettleMessage): BrokerConnection {
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
    async close() {
      await settleMessage(); // What is written behind the leave-taking nobody reads.
      client.options.reconnectPeriod = 0; // The end of a connection would begin the next one.
      const ended = new Promise((resolve) => client.end(!client.connected, {}, resolve));
      if (!(await doneWithin(ended, LEAVE_MS_MAX))) client.stream.destroy();
    },
    drop() {
      client.options.reconnectPeriod = 0;
      client.end(true);
    },
  };
}

/** The bytes of a new connection; the library reads them through a pipe, so the cutter sits there. */
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
