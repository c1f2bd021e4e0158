import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import mqtt from "mqtt";
import { Wherehouse } from "../../../deploy/client/wherehouse.ts";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
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
import { type Broker, brokerFlags, hasMosquitto, startBroker } from "./support/mosquitto.ts";
import { publishPositions, sentPositions, storedPositions } from "./support/phones.ts";
import { openPublisher, type Publisher } from "./support/publisher.ts";

/*
 * Phones publish to a real broker that two nodes over a real log take from, one at a time: whatever becomes of the one
 * that does, the other goes on, with what waited at the broker meanwhile.
 */

const [BUN, DENO = BUN] = RUNTIMES as [Runtime, Runtime?];
const HAS_ALL = hasMosquitto("tests of MQTT with several nodes") && hasNatsServer("tests of MQTT with nodes");

let nats: NatsCluster;
let broker: Broker;
let phones: Publisher;
let places: readonly [Place, Place];
let streams = 0;

beforeAll(async () => {
  if (HAS_ALL) nats = await startNatsCluster({ count: 1 });
});
afterAll(() => nats?.close());
beforeEach(async () => {
  if (!HAS_ALL) return;
  places = [openPlace(), openPlace()];
  broker = await startBroker(places[0].directory);
  phones = await openPublisher(broker.port);
  streams++;
});
afterEach(async () => {
  if (!HAS_ALL) return;
  await phones.close();
  await broker.stop("SIGTERM");
  for (const place of places) await closePlace(place);
});

function startNode(index: 0 | 1): Promise<ServerProcess> {
  const log = [
    "--log",
    `nats://${nats.servers.join(",")}`,
    "--stream",
    `fleet${streams}`,
    "--log-size",
    "100MB",
  ];
  return startReady(index === 0 ? BUN : DENO, places[index], [...log, ...brokerFlags(broker)]);
}

/** The first takes from the broker, and the second knows that it does. */
async function startBoth(): Promise<[ServerProcess, ServerProcess]> {
  const first = await startNode(0);
  await first.says(/Connected to the MQTT broker/);
  await until(() => broker.subscriptions("owntracks/+/+") > 0);
  const second = await startNode(1);
  await second.says(/"mqtt_elsewhere"/);
  return [first, second];
}

const startOf = (count: number) => Math.floor(Date.now() / 1000) - count;

async function expectAll({ url }: ServerProcess, count: number, startSeconds: number): Promise<void> {
  const key = readFirstKey(places[0]);
  await until(async () => (await storedPositions(url, key, startSeconds)).length >= count);
  expect((await storedPositions(url, key, startSeconds)).sort()).toEqual(sentPositions(count, startSeconds));
}

const clientOf = ({ url }: ServerProcess): Client => ({ url, key: readFirstKey(places[0]) });

/** The times of the next `count` events of a node's live stream. */
async function timesOf(node: ServerProcess, since: number, count: number): Promise<number[]> {
  const times: number[] = [];
  for await (const message of new Wherehouse(clientOf(node)).liveEvents({ since })) {
    if (message.kind === "reset") throw new Error("the node does not know the id");
    times.push(...message.events.map(({ timestamp }) => timestamp));
    if (times.length >= count) break;
  }
  return times;
}

describe.skipIf(!HAS_ALL)("of two nodes", () => {
  test("a second node publishes events once the first is killed, and a live stream continues there", async () => {
    const steps = 12;
    const timesFrom = (from: number) =>
      Array.from({ length: steps - from }, (_, step) => stepMs(startMs, from + step));
    const subscriber = await mqtt.connectAsync({ protocol: "mqtt", host: "127.0.0.1", port: broker.port });
    const times = new Set<number>(); // Events may be published twice, in the same order.
    subscriber.on("message", (_topic, body) => times.add(JSON.parse(String(body)).timestamp));
    await subscriber.subscribeAsync("wherehouse/default/events/+", { qos: 1 });
    const [first, second] = await startBoth();
    await makeFence(clientOf(second));
    const startMs = Date.now() + 1000;
    const report = (step: number) => store(clientOf(second), crossings(1, startMs, step));
    const listening = timesOf(second, 0, steps);
    for (let step = 0; step < 6; step++) await report(step);
    await until(() => times.size >= 6);
    const { pagination } = await new Wherehouse(clientOf(first)).get("/api/v1/events");
    first.kill("SIGKILL");
    for (let step = 6; step < steps; step++) await report(step);
    await second.says(/"mqtt_lease_held"/);
    await until(() => times.size >= steps);
    expect([...times]).toEqual(timesFrom(0));
    expect(await listening).toEqual(timesFrom(0));
    expect(await timesOf(second, pagination.after, 6)).toEqual(timesFrom(6));
    await subscriber.endAsync();
    expect((await second.stop()).code).toBe(0);
  });

  test("the other takes from the broker when one is killed, and nothing that a phone was told of is lost", async () => {
    const count = 4000;
    const startSeconds = startOf(count);
    const [first, second] = await startBoth();
    const publishing = (async () => {
      for (let from = 0; from < count; from += 100) {
        await publishPositions(phones, { from, to: from + 100 }, startSeconds);
        await pause(20);
      }
    })();
    await pause(300);
    first.kill("SIGKILL");
    await second.says(/"mqtt_lease_held"/);
    await publishing;
    await expectAll(second, count, startSeconds);

    // Back again it leaves the broker to the other, until that stops.
    const again = await startNode(0);
    await again.says(/"mqtt_elsewhere"/);
    const operator = await createOperatorKey(BUN, places[0]);
    const metricsOf = async ({ url }: ServerProcess) =>
      (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${operator}` } })).text();
    await until(async () => (await metricsOf(again)).includes("\nwherehouse_mqtt_elsewhere 1\n"));
    expect(await metricsOf(again)).toContain("\nwherehouse_mqtt_connections 0\n");
    await until(async () => (await metricsOf(second)).includes("\nwherehouse_mqtt_elsewhere 0\n"));
    const stopped = second.stop();
    await again.says(/"mqtt_lease_held"/);
    expect((await stopped).code).toBe(0);
    await publishPositions(phones, { from: count, to: count + 100 }, startSeconds);
    await expectAll(again, count + 100, startSeconds);
    expect((await again.stop()).code).toBe(0);
  });

  test("one that stood still takes no more from the broker when it goes on", async () => {
    const count = 600;
    const startSeconds = startOf(count);
    const [first, second] = await startBoth();
    await publishPositions(phones, { from: 0, to: 200 }, startSeconds);
    first.kill("SIGSTOP");
    await publishPositions(phones, { from: 200, to: 400 }, startSeconds);
    await second.says(/"mqtt_lease_held"/);
    first.kill("SIGCONT");
    await first.says(/"mqtt_lease_lost"/);
    await publishPositions(phones, { from: 400, to: count }, startSeconds);
    await expectAll(second, count, startSeconds);
    await expectAll(first, count, startSeconds);
    expect((await first.stop()).code).toBe(0); // It had all the time to throw the other off.
    await publishPositions(phones, { from: count, to: count + 20 }, startSeconds);
    await expectAll(second, count + 20, startSeconds);
    expect(second.error).not.toContain('"mqtt_lease_lost"');
    expect(second.error.split('"mqtt_connected"')).toHaveLength(2); // Nobody has thrown it off.
    expect((await second.stop()).code).toBe(0);
  });
});
