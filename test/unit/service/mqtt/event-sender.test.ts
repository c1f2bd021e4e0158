import { afterEach, beforeEach, expect, test } from "bun:test";
import { StreamError } from "../../../../src/cluster/stream/stream.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { EventSender, type EventSenderOptions } from "../../../../src/service/mqtt/event-sender.ts";
import { createOwnPositions, createSharedPositions } from "../../../../src/service/mqtt/sent-positions.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import { APP, beforeReads, openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";
import { ScriptedConnection } from "./scripted-connection.ts";

/* The events that are published from a real store, over a connection that the test drives. */

const NOON_MS = Date.UTC(2026, 0, 15, 12);

let store: EventStore;
let time: VirtualTime;
let notes: string[];
let said: string[];
const clock = createManualClock(NOON_MS);

beforeEach(() => {
  store = openEvents();
  time = new VirtualTime();
  [notes, said] = [[], []];
});
afterEach(() => store.close());

interface Opened {
  readonly sender: EventSender;
  readonly connection: ScriptedConnection;
}

/** A sender that has begun, and its connection, which is not up yet. */
async function open(options: Partial<EventSenderOptions> = {}): Promise<Opened> {
  const opened = Promise.withResolvers<ScriptedConnection>();
  const sender = new EventSender({
    ...{ appIds: [APP], events: store, positions: createOwnPositions(store.database) },
    ...{ clock, timers: time, mayPublish: () => true },
    connect: (listener) => {
      const connection = new ScriptedConnection(listener);
      opened.resolve(connection);
      return connection;
    },
    onConnected: () => said.push("connected"),
    onDisconnected: (reason) => said.push(reason),
    onNote: (note) => notes.push(note),
    ...options,
  });
  return { sender, connection: await opened.promise };
}

async function put(...marks: readonly string[]): Promise<void> {
  putAll(
    store,
    marks.map((mark) => revisionAt(NOON_MS, mark)),
  );
  await turns(2); // Events are sent after the transaction that stored them.
}

const many = (count: number) => Array.from({ length: count }, (_, index) => `M${index}`);

/** The ends of the ids of the messages. */
const marksOf = ({ messages }: ScriptedConnection) =>
  messages.map(({ body }) => String(body.id).replace(/^.*?0*(?=[A-Z]\d*$)/, ""));

/** Ends the process without a word, and begins another one. */
async function crash({ sender }: Opened, options: Partial<EventSenderOptions> = {}): Promise<Opened> {
  sender.drop();
  return open(options);
}

test("an event is published under the topic of its app and kind, with the members that lists have", async () => {
  const { connection, sender } = await open();
  connection.connect();
  putAll(store, [
    revisionAt(NOON_MS, "A", { kind: "exit", ending: null }, { revision: 2, isWithdrawn: true }),
  ]);
  await turns(2);
  expect(connection.messages).toMatchObject([
    {
      topic: "wherehouse/app/events/exit",
      body: {
        revision: 2,
        kind: "exit",
        device_id: "bus",
        fence_id: "depot",
        correction: true,
        withdrawn: true,
      },
    },
  ]);
  connection.takeFrom(0);
  expect(sender.status).toEqual({ isConnected: true, sent: 1, behindMs: 0 });
  expect(said).toEqual(["connected"]);
});

test("a sender publishes events stored after its first start, except late events and those of other apps", async () => {
  await put("A");
  const { connection } = await open();
  putAll(store, [
    revisionAt(NOON_MS, "B", {}, { isLate: true }),
    revisionAt(NOON_MS, "C", {}, { appId: "other" as AppId }),
    revisionAt(NOON_MS, "D"),
  ]);
  connection.connect();
  expect(marksOf(connection)).toEqual(["D"]);
});

test("while a broker is down or slow, at most 64 events wait in memory, and it gets all of them in order later", async () => {
  const { connection, sender } = await open();
  await put(...many(500));
  expect(connection.messages).toHaveLength(0);
  clock.set(NOON_MS + 5000);
  expect(sender.status).toMatchObject({ isConnected: false, behindMs: 5000 });
  clock.set(NOON_MS);
  connection.connect();
  expect(connection.messages).toHaveLength(64);
  for (let taken = 0; taken < connection.messages.length; taken++) {
    connection.messages[taken]!.take();
    expect(connection.messages.length - taken - 1).toBeLessThanOrEqual(64);
  }
  expect(marksOf(connection)).toEqual(many(500));
});

test("late events of an outage are read over several turns of the event loop, so other apps do not wait for them", async () => {
  const other = "other" as AppId;
  const late = many(5000).map((mark) => revisionAt(NOON_MS, mark, {}, { isLate: true }));
  let reads = 0;
  beforeReads(store, () => reads++);
  const { connection } = await open({ appIds: [APP, other] });
  putAll(store, [...late, revisionAt(NOON_MS, "A"), revisionAt(NOON_MS, "B", {}, { appId: other })]);
  connection.connect();
  expect(marksOf(connection)).toEqual(["B"]);
  while (connection.messages.length === 1) {
    const before = reads;
    await turns(1);
    expect(reads - before).toBeLessThan(20);
  }
  expect(marksOf(connection)).toEqual(["B", "A"]);
});

test("after a connection has ended, unacknowledged events are read again and sent in their present state", async () => {
  const first = await open();
  const { connection } = first;
  connection.connect();
  await put("A", "B", "C", "D");
  connection.messages[0]!.take();
  connection.messages[2]!.take();
  connection.disconnect();
  putAll(store, [revisionAt(NOON_MS, "B", {}, { revision: 2 })]);
  store.database.run("DELETE FROM events WHERE id LIKE '%D'"); // It was erased.
  await turns(2);
  connection.messages[3]!.take(); // An answer from before comes too late to count.
  expect(connection.messages).toHaveLength(4);
  connection.connect();
  expect(connection.messages.slice(4)).toMatchObject([{ body: { revision: 1 } }, { body: { revision: 2 } }]);
  expect(marksOf(connection).slice(4)).toEqual(["C", "B"]);
  expect(said).toEqual(["connected", "the test ended it", "connected"]);
  connection.takeFrom(4);
  await time.pass(1000);
  const second = await crash(first);
  second.connection.connect();
  expect(second.connection.messages).toEqual([]);
});

test("a crash repeats the messages of one second at most, and loses none", async () => {
  const first = await open();
  first.connection.connect();
  await put("A", "B", "C");
  first.connection.messages[0]!.take();
  await time.pass(1000);
  first.connection.messages[1]!.take();
  const second = await crash(first);
  expect(first.connection.isDropped).toBe(true);
  second.connection.connect();
  expect(marksOf(second.connection)).toEqual(["B", "C"]);
});

test("a stop waits for the broker, and the next start continues after the last acknowledged event", async () => {
  const { sender, connection } = await open();
  connection.connect();
  await put("A", "B");
  const closing = sender.close();
  await turns(2);
  expect(connection.isDropped).toBe(false);
  connection.takeFrom(0);
  await closing;
  expect(connection.isDropped).toBe(true);
  const next = await open();
  await put("C");
  next.connection.connect();
  expect(marksOf(next.connection)).toEqual(["C"]);
});

test("a stop does not wait for a broker that acknowledges nothing", async () => {
  const { sender, connection } = await open();
  connection.connect();
  await put("A");
  const closing = sender.close();
  await time.pass(1000);
  await closing;
  expect(connection.isDropped).toBe(true);
});

test("an event that has waited for 30 days is not sent", async () => {
  const first = await open();
  putAll(store, [revisionAt(NOON_MS - 31 * MS_PER_DAY, "A", {}, { madeMs: NOON_MS - 31 * MS_PER_DAY })]);
  putAll(store, [revisionAt(NOON_MS - 29 * MS_PER_DAY, "B", {}, { madeMs: NOON_MS - 29 * MS_PER_DAY })]);
  const { connection } = await crash(first);
  connection.connect();
  expect(marksOf(connection)).toEqual(["B"]);
});

test("a process that may not publish any more sends nothing", async () => {
  let may = true;
  const { connection } = await open({ mayPublish: () => may });
  connection.connect();
  await put("A");
  may = false;
  await put("B");
  expect(marksOf(connection)).toEqual(["A"]);
});

test("a database that fails is noted once, and read again until it works", async () => {
  let isFailing = false;
  beforeReads(store, () => {
    if (isFailing) throw new StreamError("unreachable", "nothing answers");
  });
  const { connection } = await open();
  connection.connect();
  isFailing = true;
  await put("A");
  await put("B");
  isFailing = false;
  await time.pass(1000);
  expect(marksOf(connection)).toEqual(["A", "B"]);
  expect(notes).toEqual(["Events wait before the MQTT broker: nothing answers"]);
});

test("a node of a cluster continues where the last node stopped, or else where its directory stopped", async () => {
  const values = new Map<string, Uint8Array>();
  let isReachable = true;
  const bucket = {
    async get(key: string) {
      if (!isReachable) throw new StreamError("unreachable", "no server answers");
      const value = values.get(key);
      return value === undefined ? null : { key, value, revision: 1, writtenMs: 0 };
    },
    async put(key: string, value: Uint8Array) {
      values.set(key, value);
      return 1;
    },
  };
  const own = createOwnPositions(store.database);
  const positions = createSharedPositions(bucket, own);
  await put("A");
  await own.read();
  await own.write(new Map([[APP, 0]]));
  const before = await open({ positions });
  before.connection.connect();
  expect(marksOf(before.connection)).toEqual(["A"]);
  before.connection.takeFrom(0);
  await time.pass(1000);
  await put("B");

  isReachable = false;
  const opening = crash(before, { positions });
  await turns(2);
  expect(notes).toEqual([expect.stringContaining("no server answers")]);
  isReachable = true;
  await time.pass(5000);
  const after = await opening;
  after.connection.connect();
  expect(marksOf(after.connection)).toEqual(["B"]);
  expect(await own.read()).toEqual(new Map([[APP, 0]]));
});
