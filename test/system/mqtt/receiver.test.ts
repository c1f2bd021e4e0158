import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fail, ok } from "../../../src/lib/result.ts";
import { nextTurn } from "../../../src/lib/schedule/timers.ts";
import { systemClock } from "../../../src/model/time/clock.ts";
import type { BrokerConnection, BrokerListener } from "../../../src/runtime/broker.ts";
import { loadMqttBroker } from "../../../src/runtime/mqtt-broker.ts";
import { Receiver, type ReceiverEvents, type StoreTopicMessage } from "../../../src/service/mqtt/receiver.ts";
import { filtersBeside } from "../../../src/service/mqtt/topic-filter.ts";
import { turns } from "../../support/turns.ts";
import { until } from "../../support/until.ts";
import { type Broker, hasMosquitto, startBroker } from "./support/mosquitto.ts";
import { locationBody, openPublisher } from "./support/publisher.ts";

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
    onUnheard: (_filter, levels) => said.push(`unheard: ${levels} levels`),
    onFault: (_filter, error) => said.push(`fault: ${error}`),
  };
  const takeAll: StoreTopicMessage = async ({ topic, body }) =>
    ok(taken.push(`${topic} ${decoder.decode(body)}`));

  /** What it should do with messages that meet a fault. */
  let quarantineMessage: StoreTopicMessage = takeAll;

  let mayTake = true;

  function openReceiver(take: StoreTopicMessage = takeAll, topicFilter = "owntracks/+/+"): Receiver {
    const tls = null;
    const options = { hostname: "127.0.0.1", port: broker.port, tls, user: null, password: null };
    const receiver = new Receiver({
      topicFilter,
      topicFilters: [topicFilter],
      clock: systemClock,
      ingestMessage: take,
      quarantineMessage,
      events,
      mayTake: () => mayTake,
      connect: (listener) =>
        connectBroker({ ...options, clientId: `test-${topicFilter}`, keepsSession: true }, listener),
    });
    open.push(receiver);
    return receiver;
  }

  /** Resolves once receivers have subscribed this many times. */
  const subscribed = (times = 1, topicFilter = "owntracks/+/+") =>
    until(() => broker.subscriptions(topicFilter) >= times);

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
    // The broker has sent the third by the time when it answers another client's question.
    await phone.publish("somewhere/else", "");
    await turns();
    expect(taken).toHaveLength(2);
    first.drop();
    await until(() => said.includes("disconnected") || !first.isConnected);
    mayTake = true;
    openReceiver();
    await until(() => taken.length === 4);
    expect(taken.map((line) => line.at(-1))).toEqual(["0", "1", "1", "2"]);
    await phone.close();
  });

  const takeAllButPoison: StoreTopicMessage = async (message) => {
    if (decoder.decode(message.body) === "poison") throw new Error("a bug");
    return takeAll(message);
  };

  test("a message that meets a fault of ours is set aside, and keeps nobody waiting", async () => {
    const aside: string[] = [];
    quarantineMessage = async ({ body }) => ok(aside.push(decoder.decode(body)));
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
    quarantineMessage = async () => {
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
    const before = broker.subscriptions("owntracks/+/+");
    await broker.stop("SIGKILL");
    rmSync(join(directory, "mosquitto.db"), { force: true });
    await broker.start();
    await until(() => said.filter((line) => line.startsWith("connected")).length === 3);
    expect(said.filter((line) => line.startsWith("connected"))).toEqual([
      "connected, may have missed",
      "connected",
      "connected, may have missed",
    ]);
    await subscribed(before + 1);
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
    await subscribed();
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

  test("says that positions come under topics of another depth, and takes none of them", async () => {
    const receiver = openReceiver();
    for (const filter of filtersBeside("owntracks/+/+")) await subscribed(1, filter);
    const phone = await openPublisher(broker.port);
    const location = locationBody(0, 1_770_000_000);
    for (const topic of ["owntracks/pixel", "owntracks/anna/pixel/at/home", "/owntracks/anna/pixel"])
      await phone.publish(topic, location);
    // What the apps publish beside positions, and what somebody else does.
    await phone.publish("owntracks/anna/pixel/event", '{"_type":"transition"}');
    await phone.publish("owntracks/anna/pixel/info", location);
    await phone.publish("owntracks/anna", '{"state":"on"}');
    await phone.publish("owntracks/anna/pixel", location);
    await until(() => taken.length === 1 && receiver.unheard.count === 3);
    expect(taken).toEqual([`owntracks/anna/pixel ${location}`]);
    expect(receiver.unheard.topics.toSorted()).toEqual([
      "/owntracks/anna/pixel",
      "owntracks/anna/pixel/at/home",
      "owntracks/pixel",
    ]);
    expect(said.filter((line) => line.startsWith("unheard")).sort()).toEqual([
      "unheard: 2 levels",
      "unheard: 4 levels",
      "unheard: 5 levels",
    ]);
    expect(said).not.toContain("QoS 0");
    await phone.close();
  });

  test("says that a topic of its own filter names no device", async () => {
    const receiver = openReceiver(takeAll, "owntracks/#");
    await subscribed(1, "owntracks/#");
    const phone = await openPublisher(broker.port);
    await phone.publish("owntracks/pixel", locationBody(0, 1_770_000_000));
    await until(() => receiver.unheard.count === 1);
    expect(receiver.unheard.topics).toEqual(["owntracks/pixel"]);
    await phone.close();
  });
});

describe("Receiver, over a connection that a test drives", () => {
  const MESSAGE = { topic: "owntracks/anna/pixel", body: new Uint8Array(), qos: 1, isCurrent: () => true };

  function openDriven(events: Partial<ReceiverEvents>, mayTake = () => true) {
    const listened: (readonly string[])[] = [];
    const beside = Promise.withResolvers<void>();
    let listener: BrokerListener | undefined;
    const connection: BrokerConnection = {
      subscribe: async () => null,
      listen: (filters) => {
        listened.push(filters);
        return beside.promise;
      },
      publish: () => undefined,
      close: async () => undefined,
      drop: () => undefined,
    };
    const quiet: ReceiverEvents = {
      onConnected: () => undefined,
      onDisconnected: () => undefined,
      onRefused: () => undefined,
      onHeld: () => undefined,
      onUnassured: () => undefined,
      onUnheard: () => undefined,
      onFault: () => undefined,
    };
    const receiver = new Receiver({
      topicFilter: "owntracks/+/+",
      topicFilters: ["owntracks/+/+"],
      clock: systemClock,
      ingestMessage: async () => ok(null),
      quarantineMessage: async () => ok(null),
      events: { ...quiet, ...events },
      mayTake,
      connect(given) {
        listener = given;
        return connection;
      },
    });
    return { receiver, connection, listener: listener!, listened };
  }

  test("goes on with the next message after an event that throws", async () => {
    const faults: string[] = [];
    const { receiver, listener } = openDriven({
      onUnassured: () => {
        throw new Error("the log is full");
      },
      onFault: (_filter, error) => faults.push(String(error)),
    });
    expect(await listener.onMessage({ ...MESSAGE, qos: 0 })).toBe("leave");
    expect(faults).toEqual(["Error: the log is full"]);
    expect(await listener.onMessage(MESSAGE)).toBe("acknowledge");
    expect(receiver.counts).toEqual({ taken: 1, faulty: 1 });
    await receiver.close();
  });

  test("asks for nothing beside its filter once a broker has ended a connection that did", async () => {
    const { receiver, connection, listener, listened } = openDriven({});
    const connected = async () => {
      listener.onConnected(connection, false);
      await nextTurn();
    };
    await connected();
    expect(listened).toHaveLength(1);
    listener.onDisconnected("not authorized");
    await connected();
    expect(listened).toHaveLength(1);
    await receiver.close();
  });
});
