import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, ok } from "../../src/lib/result.ts";
import { Receiver, type ReceiverEvents, type TakeTopicMessage } from "../../src/mqtt/receiver.ts";
import { loadMqttBroker } from "../../src/runtime/broker/mqtt-broker.ts";
import { systemClock } from "../../src/time/clock.ts";
import { type Broker, hasMosquitto, startBroker } from "./support/mosquitto.ts";
import { openPublisher } from "./support/publisher.ts";
import { until } from "./support/until.ts";

const connectBroker = await loadMqttBroker();

/* The receiver against a real broker; what it takes goes into a list here. */

const decoder = new TextDecoder();
const FULL = { kind: "unavailable", message: "the disk is full", retryAfterSeconds: 10 } as const;

describe.if(hasMosquitto("the tests of the receiver of MQTT messages"))("Receiver", () => {
  let directory = "";
  let broker: Broker;
  let taken: string[] = [];
  let said: string[] = [];
  let open: Receiver[] = [];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "wherehouse-mqtt-"));
    broker = await startBroker(directory);
    [taken, said, open] = [[], [], []];
    mayTake = true;
  });

  afterEach(async () => {
    await Promise.all(open.map((receiver) => receiver.close()));
    await broker.stop("SIGTERM");
    rmSync(directory, { recursive: true });
  });

  const events: ReceiverEvents = {
    onConnected: (_filter, mayHaveMissed) =>
      said.push(mayHaveMissed ? "connected, may have missed" : "connected"),
    onDisconnected: () => said.push("disconnected"),
    onRefused: (_filter, reason) => said.push(`refused: ${reason}`),
    onHeld: (_filter, error) => said.push(`held: ${error.kind}`),
    onUnassured: () => said.push("QoS 0"),
    onFault: (_filter, error) => said.push(`fault: ${error}`),
  };
  const takeAll: TakeTopicMessage = async ({ topic, body }) =>
    ok(taken.push(`${topic} ${decoder.decode(body)}`));

  /** What it should do with messages that meet a fault. */
  let setAside: TakeTopicMessage = takeAll;

  let mayTake = true;

  function openReceiver(take: TakeTopicMessage = takeAll, topicFilter = "owntracks/+/+"): Receiver {
    const tls = null;
    const options = { hostname: "127.0.0.1", port: broker.port, tls, user: null, password: null };
    const receiver = new Receiver({
      topicFilter,
      clock: systemClock,
      take,
      setAside,
      events,
      mayTake: () => mayTake,
      connect: (listener) => connectBroker({ ...options, clientId: `test-${topicFilter}` }, listener),
    });
    open.push(receiver);
    return receiver;
  }

  const subscribed = async () => {
    await until(() => said.some((line) => line.startsWith("connected")));
    await Bun.sleep(50); // For the broker's answer to the subscription, which nobody is told of.
  };

  test("takes what came while it was away, once and in order", async () => {
    const first = openReceiver();
    await subscribed();
    await first.close();
    const phone = await openPublisher(broker.port);
    for (let number = 0; number < 50; number++) await phone.publish("owntracks/anna/pixel", String(number));
    openReceiver();
    await until(() => taken.length === 50);
    expect(taken).toEqual(Array.from({ length: 50 }, (_, number) => `owntracks/anna/pixel ${number}`));
    expect(said).toEqual(["connected, may have missed", "connected"]);
    await phone.close();
  });

  test("leaves with the broker what could not be taken, and stops the stream meanwhile", async () => {
    let isFull = true;
    let tries = 0;
    const receiver = openReceiver(async (message) => {
      tries++;
      return isFull ? fail(FULL) : takeAll(message);
    });
    await subscribed();
    const phone = await openPublisher(broker.port);
    for (let number = 0; number < 100; number++) await phone.publish("owntracks/anna/pixel", String(number));
    await until(() => tries >= 3);
    expect(receiver.isHeld).toBe(true);
    expect(taken).toEqual([]);
    isFull = false;
    await until(() => taken.length === 100);
    expect(new Set(taken).size).toBe(100);
    expect(receiver.isHeld).toBe(false);
    expect(said).toContain("held: unavailable");
    await phone.close();
  });

  test("a message that is held when it stops comes again", async () => {
    const first = openReceiver(async () => fail(FULL));
    await subscribed();
    const phone = await openPublisher(broker.port);
    await phone.publish("owntracks/anna/pixel", "held");
    await until(() => first.isHeld);
    await first.close();
    openReceiver();
    await until(() => taken.length === 1);
    expect(taken).toEqual(["owntracks/anna/pixel held"]);
    await phone.close();
  });

  test("finishes the message under way when it stops, and acknowledges it", async () => {
    const gate = Promise.withResolvers<void>();
    let begun = 0;
    const first = openReceiver(async (message) => {
      begun++;
      await gate.promise;
      return takeAll(message);
    });
    await subscribed();
    const phone = await openPublisher(broker.port);
    await phone.publish("owntracks/anna/pixel", "under way");
    await until(() => begun === 1);
    const closed = first.close();
    await phone.publish("owntracks/anna/pixel", "next");
    gate.resolve();
    await closed;
    expect(taken).toEqual(["owntracks/anna/pixel under way"]);
    openReceiver();
    await until(() => taken.length === 2);
    expect(taken[1]).toBe("owntracks/anna/pixel next");
    await phone.close();
  });

  test("takes and acknowledges nothing once messages are somebody else's, and all of it comes to them", async () => {
    const first = openReceiver(async (message) => {
      mayTake = decoder.decode(message.body) !== "1"; // Lost while the second message is under way.
      return takeAll(message);
    });
    await subscribed();
    const phone = await openPublisher(broker.port);
    for (const body of ["0", "1", "2"]) await phone.publish("owntracks/anna/pixel", body);
    await until(() => taken.length === 2);
    await Bun.sleep(200);
    expect(taken).toHaveLength(2);
    first.drop();
    await until(() => said.includes("disconnected") || !first.isConnected);
    mayTake = true;
    openReceiver();
    await until(() => taken.length === 4);
    expect(taken.map((line) => line.at(-1))).toEqual(["0", "1", "1", "2"]);
    await phone.close();
  });

  const takeAllButPoison: TakeTopicMessage = async (message) => {
    if (decoder.decode(message.body) === "poison") throw new Error("a bug");
    return takeAll(message);
  };

  test("a message that meets a fault of ours is set aside, and keeps nobody waiting", async () => {
    const aside: string[] = [];
    setAside = async ({ body }) => ok(aside.push(decoder.decode(body)));
    const receiver = openReceiver(takeAllButPoison);
    await subscribed();
    const phone = await openPublisher(broker.port);
    for (const body of ["before", "poison", "after"]) await phone.publish("owntracks/anna/pixel", body);
    await until(() => taken.length === 2);
    expect(receiver.counts).toEqual({ taken: 2, faulty: 1 });
    expect(said).toContain("fault: Error: a bug");
    expect(aside).toEqual(["poison"]);
    await receiver.close();
    openReceiver();
    await phone.publish("owntracks/anna/pixel", "later");
    await until(() => taken.length === 3);
    expect(taken[2]).toBe("owntracks/anna/pixel later"); // The broker sends the other no more.
    await phone.close();
  });

  test("a message that can't be set aside either stays with the broker, and the others go on", async () => {
    setAside = async () => {
      throw new Error("another bug");
    };
    const first = openReceiver(takeAllButPoison);
    await subscribed();
    const phone = await openPublisher(broker.port);
    for (const body of ["before", "poison", "after"]) await phone.publish("owntracks/anna/pixel", body);
    await until(() => taken.length === 2);
    await first.close();
    openReceiver();
    await until(() => taken.length === 3);
    expect(taken[2]).toBe("owntracks/anna/pixel poison");
    await phone.close();
  });

  test("goes on after the broker was restarted, with its sessions and without", async () => {
    openReceiver();
    await subscribed();
    await broker.restart("SIGTERM");
    const phone = await openPublisher(broker.port);
    await phone.publish("owntracks/anna/pixel", "kept session");
    await until(() => taken.length === 1);
    await phone.close();
    await broker.stop("SIGKILL");
    rmSync(join(directory, "mosquitto.db"), { force: true });
    await broker.start();
    await until(() => said.filter((line) => line.startsWith("connected")).length === 3);
    expect(said.filter((line) => line.startsWith("connected"))).toEqual([
      "connected, may have missed",
      "connected",
      "connected, may have missed",
    ]);
    await Bun.sleep(50);
    const other = await openPublisher(broker.port);
    await other.publish("owntracks/anna/pixel", "new session");
    await until(() => taken.length === 2);
    expect(taken[1]).toBe("owntracks/anna/pixel new session");
    await other.close();
  });

  test("waits for a broker that is down, and counts what comes with QoS 0", async () => {
    await broker.stop("SIGTERM");
    const receiver = openReceiver();
    await until(() => said.includes("disconnected"));
    expect(receiver.isConnected).toBe(false);
    await broker.start();
    await until(() => receiver.isConnected);
    await Bun.sleep(50);
    const phone = await openPublisher(broker.port);
    await phone.publish("owntracks/anna/pixel", "unassured", { qos: 0 });
    await phone.publish("owntracks/anna/pixel", "exactly once", { qos: 2 });
    await until(() => taken.length === 2);
    expect(receiver.unassured).toBe(1);
    expect(said).toContain("QoS 0");
    await phone.close();
  });

  test("a message of 17 MiB is cut, and the next one is whole", async () => {
    const bodies: Uint8Array[] = [];
    openReceiver(async ({ body }) => ok(bodies.push(body)));
    await subscribed();
    const phone = await openPublisher(broker.port);
    await phone.publish("owntracks/anna/pixel", new Uint8Array(17 * 1024 * 1024).fill(0x7b));
    await phone.publish("owntracks/anna/pixel", "small");
    await until(() => bodies.length === 2);
    expect(bodies[0]!.length).toBeGreaterThanOrEqual(64 * 1024);
    expect(bodies[0]!.length).toBeLessThanOrEqual(128 * 1024);
    expect(decoder.decode(bodies[1])).toBe("small");
    await phone.close();
  });
});
