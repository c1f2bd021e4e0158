import { expect, test } from "bun:test";
import { encodeNodeStatus, type NodeStatus, parseNodeStatus } from "../../../src/cluster/node-status.ts";
import { Nodes } from "../../../src/cluster/nodes.ts";
import { StreamError } from "../../../src/cluster/stream/stream.ts";
import { outcome } from "../../support/rejection.ts";
import { SimulatedBucket, SimulatedValues } from "../../support/stream/simulated-bucket.ts";

const DAY_MS = 86_400_000;
const STATUS: NodeStatus = {
  address: "http://127.0.0.1:3000",
  process: "p",
  program: "0.2.0",
  floor: 7,
  appliedSequence: 9000,
  lagMs: 0,
  atMs: 0,
  isUp: true,
};

/** Three nodes that tell of themselves by one bucket, each with a clock that the test turns. */
function openNodes() {
  const values = new SimulatedValues();
  const time = { monotonicMs: 0 };
  const open = (id: string) => {
    const bucket = new SimulatedBucket(values);
    return { bucket, nodes: new Nodes(bucket, id, () => time.monotonicMs) };
  };
  return { values, time, a: open("a"), b: open("b"), c: open("c") };
}

test("a status is read as it was written, and an invalid one is null", () => {
  expect(parseNodeStatus(encodeNodeStatus(STATUS))).toEqual(STATUS);
  const text = new TextDecoder().decode(encodeNodeStatus(STATUS));
  for (const broken of [
    "",
    "{}",
    text.slice(0, -1),
    text.replace(":7,", ":-7,"),
    text.replace(":9000,", ":0.5,"),
    text.replace("true", "1"),
  ])
    expect(parseNodeStatus(new TextEncoder().encode(broken))).toBeNull();
  expect(parseNodeStatus(new TextEncoder().encode(text.replace('"version":2', '"version":3')))).toBeNull();
});

test("nodes that published within half a minute are live, as is this one", async () => {
  const { time, a, b, c } = openNodes();
  await b.nodes.publish(STATUS);
  await c.nodes.publish(STATUS);
  await a.nodes.read();
  expect(a.nodes.liveCount).toBe(3);
  time.monotonicMs = 20_000;
  await b.nodes.publish({ ...STATUS, atMs: 20_000 });
  await a.nodes.read();
  time.monotonicMs = 40_000;
  await a.nodes.read();
  expect(a.nodes.liveCount).toBe(2);
  await b.nodes.publish({ ...STATUS, isUp: false });
  await a.nodes.read();
  expect(a.nodes.liveCount).toBe(1);
});

test("the lease of the broker is no node, and keeps nothing of the log", async () => {
  const { a, b } = openNodes();
  await b.nodes.publish({ ...STATUS, floor: 30 });
  await b.bucket.put("mqtt-lease", new TextEncoder().encode("{}"));
  await a.nodes.read();
  expect(a.nodes.liveCount).toBe(2);
  expect(a.nodes.floor(40)).toBe(30);
});

test("the floor is what the hindmost needs, whether it is live or away", async () => {
  const { time, a, b, c } = openNodes();
  await b.nodes.publish({ ...STATUS, floor: 30 });
  await c.nodes.publish({ ...STATUS, floor: 20, isUp: false });
  await a.nodes.publish({ ...STATUS, floor: 1 }); // Its own is what it says now, not what it told last.
  await a.nodes.read();
  time.monotonicMs = DAY_MS;
  expect(a.nodes.floor(25)).toBe(20);
  expect(a.nodes.floor(10)).toBe(10);
});

test("nothing is purged beside a node that this program can't read", async () => {
  const { values, a } = openNodes();
  values.write("b", new TextEncoder().encode('{"version":3,"floor":[1]}'));
  await a.nodes.read();
  expect(a.nodes.floor(25)).toBe(0);
});

test("a node that is absent for longer than the timeout is removed, by the servers' clock and its own", async () => {
  const { values, time, a, b, c } = openNodes();
  const tellAt = async ({ nodes }: typeof a, nowMs: number, status: Partial<NodeStatus>) => {
    values.nowMs = nowMs;
    await nodes.publish({ ...STATUS, ...status });
  };
  await tellAt(b, 0, { floor: 3, atMs: 0 });
  await tellAt(c, 6 * DAY_MS, { floor: 5, atMs: 6 * DAY_MS });
  await tellAt(a, 8 * DAY_MS, {});
  await a.nodes.read();
  expect(await a.nodes.forgetAway(8 * DAY_MS, 7 * DAY_MS)).toEqual([]); // It may have published just now.
  time.monotonicMs = 60_000;
  expect(await a.nodes.forgetAway(5 * DAY_MS, 7 * DAY_MS)).toEqual([]); // Its own clock says otherwise.
  expect(await a.nodes.forgetAway(8 * DAY_MS, 7 * DAY_MS)).toEqual(["b"]);
  await a.nodes.read();
  expect(a.nodes.floor(100)).toBe(5);
});

test("a node whose own clock is ahead removes no other, even if it is alone", async () => {
  const { values, time, a, b } = openNodes();
  await b.nodes.publish({ ...STATUS, floor: 3, atMs: 0 });
  values.nowMs = 60_000;
  await a.nodes.publish(STATUS);
  await a.nodes.read();
  time.monotonicMs = 60_000;
  expect(await a.nodes.forgetAway(9 * DAY_MS, 7 * DAY_MS)).toEqual([]);
  expect(a.nodes.floor(100)).toBe(3);
});

test.each([
  ["ahead", 27_000 * DAY_MS],
  ["behind", 0],
])(
  "a node that went with its clock far %s is forgotten once it was not seen for so long",
  async (_, atMs) => {
    const { time, a, b } = openNodes();
    await b.nodes.publish({ ...STATUS, floor: 3, atMs, isUp: false });
    await a.nodes.publish(STATUS);
    await a.nodes.read();
    time.monotonicMs = 7 * DAY_MS;
    expect(await a.nodes.forgetAway(0, 7 * DAY_MS)).toEqual([]);
    time.monotonicMs = 7 * DAY_MS + 1;
    expect(await a.nodes.forgetAway(0, 7 * DAY_MS)).toEqual(["b"]);
  },
);

test("a node that could not read for the whole timeout removes no node that may have published meanwhile", async () => {
  const { time, a, b } = openNodes();
  await b.nodes.publish({ ...STATUS, floor: 3 });
  await a.nodes.publish(STATUS);
  await a.nodes.read();
  time.monotonicMs = 8 * DAY_MS;
  await a.nodes.read();
  expect(await a.nodes.forgetAway(0, 7 * DAY_MS)).toEqual([]);
  expect(a.nodes.floor(100)).toBe(3);
});

test("what is known stays known where the servers can't be asked", async () => {
  const { a, b } = openNodes();
  await b.nodes.publish({ ...STATUS, floor: 3 });
  await a.nodes.read();
  a.bucket.refusal = new StreamError("unreachable", "no server answers");
  expect(await outcome(a.nodes.read())).toThrow(StreamError);
  expect(a.nodes.floor(100)).toBe(3);
});

test("another process under a node's name is found when it tells of itself twice, and nothing that only came late", async () => {
  const { values, a } = openNodes();
  const write = (status: Partial<NodeStatus>) => {
    values.write("a", encodeNodeStatus({ ...STATUS, ...status }));
  };
  const impostorAfter = async (step: () => unknown) => {
    await step();
    await a.nodes.read();
    await a.nodes.read();
    return a.nodes.impostor;
  };
  const tell = () => a.nodes.publish(STATUS);
  expect(await impostorAfter(tell)).toBeNull();
  expect(await impostorAfter(() => write({ floor: 6 }))).toBeNull(); // Its own word, whose answer was lost.
  expect(await impostorAfter(tell)).toBeNull();
  expect(await impostorAfter(() => write({ process: "former" }))).toBeNull();
  expect(await impostorAfter(tell)).toBeNull();
  const late = values.entries.get("a")!;
  expect(await impostorAfter(() => write({ process: "other" }))).toBeNull();
  const once = values.entries.get("a")!;
  expect(await impostorAfter(() => values.entries.set("a", late))).toBeNull();
  expect(await impostorAfter(() => values.entries.set("a", once))).toBeNull(); // By a server that lags, once more.
  expect(await impostorAfter(tell)).toBeNull();
  expect(await impostorAfter(() => write({ process: "other", isUp: false }))).toBeNull(); // It stops by itself.
  expect(await impostorAfter(tell)).toBeNull();
  expect(await impostorAfter(() => write({ process: "other" }))).toMatchObject({ process: "other" });
});

test("purgedByMs() counts on a node that goes away before it has archived, and knows nothing beside another format", async () => {
  const { values, a, b } = openNodes();
  await b.nodes.publish(STATUS);
  await a.nodes.read();
  expect(a.nodes.purgedByMs(1000, DAY_MS)).toBe(1000 + DAY_MS + 30_000);
  values.write("c", new TextEncoder().encode('{"version":3}'));
  await a.nodes.read();
  expect([a.nodes.purgedByMs(1000, DAY_MS), a.nodes.floor(7)]).toEqual([null, 0]);
});
