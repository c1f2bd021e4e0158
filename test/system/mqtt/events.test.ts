import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import mqtt, { type MqttClient } from "mqtt";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, store } from "../support/client.ts";
import { crossings, makeFence, stepMs } from "../support/crossings.ts";
import { pause } from "../support/pause.ts";
import { listStored } from "../webhooks/subscriber.ts";
import { type Broker, brokerFlags, hasMosquitto, startBroker } from "./support/mosquitto.ts";

/*
 * A subscriber of a real broker gets every event of a geofence, in order for each device, while devices go in and out
 * and both the server and the broker are restarted.
 */

const DEVICES = 8;
const SEED = Number(process.env.WHEREHOUSE_MQTT_SEED ?? Date.now());

interface Heard {
  readonly topic: string;
  readonly id: string;
  readonly revision: number;
  readonly kind: string;
  readonly device_id: string;
  readonly timestamp: number;
}

describe.if(hasMosquitto("the tests of events over MQTT"))("events over MQTT", () => {
  let place: Place;
  let broker: Broker;
  let subscriber: MqttClient;
  let heard: Heard[] = [];

  beforeEach(async () => {
    place = openPlace();
    broker = await startBroker(place.directory);
    heard = [];
    const session = { clientId: "subscriber", clean: false, reconnectPeriod: 100 };
    subscriber = await mqtt.connectAsync({
      protocol: "mqtt",
      host: "127.0.0.1",
      port: broker.port,
      ...session,
    });
    subscriber.on("error", () => undefined); // While the broker is restarted.
    subscriber.on("message", (topic, body, { dup }) => {
      // The broker repeats what the subscriber had not acknowledged when it stopped.
      if (!dup) heard.push({ topic, ...JSON.parse(String(body)) });
    });
    await subscriber.subscribeAsync("wherehouse/+/events/+", { qos: 1 });
  });
  afterEach(async () => {
    await subscriber.endAsync(true);
    await broker.stop("SIGTERM");
    await closePlace(place);
  });

  const serve = (runtime: Runtime, ...flags: readonly string[]) =>
    startReady(runtime, place, [...brokerFlags(broker), ...flags]);

  const clientOf = ({ url }: ServerProcess): Client => ({ url, key: readFirstKey(place) });
  const report = (server: ServerProcess, startMs: number, step: number) =>
    store(clientOf(server), crossings(DEVICES, startMs, step));

  /** The first message of each event. */
  const firsts = () => heard.filter(({ id }, index) => heard.findIndex((other) => other.id === id) === index);

  test.each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))(
    "all events arrive while the server is killed and the broker restarts, on %s",
    async (_name, runtime) => {
      console.info(`seed ${SEED}`);
      const random = seededRandom(SEED);
      let server = await serve(runtime);
      await makeFence(clientOf(server));
      const startMs = Date.now() + 1000;
      for (let step = 0; step < 12; step++) {
        await report(server, startMs, step);
        await pause(random() * 200);
        if (step % 4 === 1) {
          server.kill("SIGKILL");
          await server.ended;
          server = await serve(runtime);
        } else if (step === 6) await broker.restart("SIGTERM");
      }
      await until(() => new Set(heard.map(({ id }) => id)).size >= 12 * DEVICES);
      const events = await listStored(clientOf(server));
      expect(events).toHaveLength(12 * DEVICES);
      expect(new Set(heard.map(({ id }) => id))).toEqual(new Set(events.map(({ id }) => id)));
      for (const { topic, kind } of heard) expect(topic).toBe(`wherehouse/default/events/${kind}`);
      for (let device = 0; device < DEVICES; device++) {
        const times = firsts().filter(({ device_id }) => device_id === `device-${device}`);
        expect(times.map(({ timestamp }) => timestamp)).toEqual(
          Array.from({ length: 12 }, (_, step) => stepMs(startMs, step)),
        );
      }
      expect((await server.stop()).code).toBe(0);
    },
    120_000,
  );

  test("events wait while the broker is down, and none is sent twice after a clean stop", async () => {
    let server = await serve(RUNTIMES[0]!);
    await server.says(/"mqtt_events_connected"/);
    const headers = { authorization: `Bearer ${await createOperatorKey(RUNTIMES[0]!, place)}` };
    let metrics = "";
    const showsMetric = async (line: string) => {
      metrics = await (await fetch(`${server.url}/metrics`, { headers })).text();
      return metrics.includes(`\nwherehouse_mqtt_events_${line}\n`);
    };
    await makeFence(clientOf(server));
    const startMs = Date.now() + 1000;
    await report(server, startMs, 0);
    await until(() => heard.length === DEVICES);
    await until(() => showsMetric(`sent_total ${DEVICES}`));
    await broker.stop("SIGTERM");
    await server.says(/"mqtt_events_disconnected"/);
    await report(server, startMs, 1);
    await until(async () => (await listStored(clientOf(server))).length === 2 * DEVICES);
    await until(() => showsMetric("connected 0"));
    expect(metrics).toContain(`\nwherehouse_mqtt_events_sent_total ${DEVICES}\n`);
    expect(Number(/\nwherehouse_mqtt_events_behind_seconds (.*)/.exec(metrics)![1])).toBeGreaterThan(0);
    await server.stop();
    await broker.start();
    server = await serve(RUNTIMES[0]!);
    await until(() => heard.length === 2 * DEVICES);
    await report(server, startMs, 2);
    await until(() => heard.length === 3 * DEVICES);
    expect(new Set(heard.map(({ id }) => id)).size).toBe(3 * DEVICES);
    expect((await server.stop()).code).toBe(0);
  });

  test("events of an app are published only if the operator names it", async () => {
    const server = await serve(RUNTIMES[0]!, "--mqtt-events", "another");
    await makeFence(clientOf(server));
    await report(server, Date.now() + 1000, 0);
    await until(async () => (await listStored(clientOf(server))).length === DEVICES);
    expect((await server.stop()).code).toBe(0); // It waits for what the broker does not have.
    await subscriber.publishAsync("wherehouse/test/events/end", JSON.stringify({ id: "end" }), { qos: 1 });
    await until(() => heard.length > 0);
    expect(heard.map(({ id }) => id)).toEqual(["end"]);
  });
});
