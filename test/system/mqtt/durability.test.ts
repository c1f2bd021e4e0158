import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { pause } from "../support/pause.ts";
import { type Broker, brokerFlags, hasMosquitto, startBroker } from "./support/mosquitto.ts";
import { publishPositions, sentPositions, storedPositions } from "./support/phones.ts";
import { openPublisher } from "./support/publisher.ts";

/*
 * Phones publish to a real broker while the server over it is killed and started again and again. In the end it has
 * every position that the broker took, once. `test/long/mqtt.test.ts` has more; for longer still, with a fleet of a
 * million messages:
 *
 *   WHEREHOUSE_MQTT_MESSAGES=1000000 npm test -- ./test/system/mqtt/durability.test.ts
 */

const MESSAGES = Number(process.env.WHEREHOUSE_MQTT_MESSAGES ?? 4000);
/** A thousand messages a second at least, and starts of the server beside them. */
const TIMEOUT_MS = 120_000 + 12 * MESSAGES;
const SEED = Number(process.env.WHEREHOUSE_MQTT_SEED ?? Date.now());

describe.if(hasMosquitto("the tests of MQTT across crashes"))("messages of a broker", () => {
  let place: Place;
  let broker: Broker;
  beforeEach(async () => {
    place = openPlace();
    broker = await startBroker(place.directory);
  });
  afterEach(async () => {
    await broker.stop("SIGTERM");
    await closePlace(place);
  });

  const serve = (runtime: Runtime) => startReady(runtime, place, brokerFlags(broker));

  /** Kills the server now and then while the phones publish; returns the one that is left. */
  async function serveAndKill(runtime: Runtime, published: Promise<void>, random: () => number) {
    let isPublished = false;
    published.finally(() => {
      isPublished = true;
    });
    let server = await serve(runtime);
    let kills = 0;
    while (!isPublished || kills < 3) {
      await pause(100 + random() * 900);
      server.kill("SIGKILL");
      await server.ended;
      kills++;
      server = await serve(runtime);
    }
    return { server, kills };
  }

  async function expectAll(server: ServerProcess, count: number, startSeconds: number): Promise<void> {
    const key = readFirstKey(place);
    await until(async () => {
      const stored = await storedPositions(server.url, key, startSeconds);
      return stored.length >= count;
    });
    expect((await storedPositions(server.url, key, startSeconds)).sort()).toEqual(
      sentPositions(count, startSeconds),
    );
  }

  test.each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))(
    "are all there, once, after the server was killed at random on %s",
    async (name, runtime) => {
      const count = name === "Bun" ? MESSAGES : MESSAGES / 5;
      console.info(`seed ${SEED}`);
      const startSeconds = Math.floor(Date.now() / 1000) - count; // Twenty phones have a position a second.
      const first = await serve(runtime);
      await first.says(/Connected to the MQTT broker/);
      await until(() => broker.subscriptions("owntracks/+/+") > 0);
      const phones = await openPublisher(broker.port);
      const publish = async () => {
        for (let from = 0; from < count; from += 200) {
          await publishPositions(phones, { from, to: Math.min(from + 200, count) }, startSeconds);
          await pause(60); // Or all would be with the broker before the first kill.
        }
      };
      await first.stop();
      const { server, kills } = await serveAndKill(runtime, publish(), seededRandom(SEED));
      await expectAll(server, count, startSeconds);
      console.info(`${count} messages, ${kills} kills`);
      await phones.close();
      expect((await server.stop()).code).toBe(0);
    },
    TIMEOUT_MS,
  );
});
