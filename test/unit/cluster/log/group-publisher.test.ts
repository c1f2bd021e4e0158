import { expect, test } from "bun:test";
import { GroupPublisher, type GroupPublisherOptions } from "../../../../src/cluster/log/group-publisher.ts";
import { StreamError } from "../../../../src/cluster/stream/stream.ts";
import type { Result } from "../../../../src/lib/result.ts";
import type { LogRefusal } from "../../../../src/wal/log.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { SimulatedServers } from "../../../support/stream/simulated-servers.ts";
import { CALM, ROUGH, SimulatedStream } from "../../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";

/*
 * The publisher over simulated servers, in a time of its own. What it says of each entry is compared with where the
 * servers have it.
 */

const GIVE_UP_MS = 200;
const MESSAGE_BYTES_MAX = 4096;

type Outcome = Result<number, LogRefusal>;

function openPublisher(
  options: Partial<GroupPublisherOptions> & { seed?: number; messageBytesMax?: number } = {},
) {
  const { seed = 1, messageBytesMax = MESSAGE_BYTES_MAX, ...given } = options;
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const servers = new SimulatedServers("s", () => time.nowMs());
  const stream = new SimulatedStream({ servers, time, random, messageBytesMax });
  const publisher = new GroupPublisher({
    stream,
    idPrefix: "n",
    queueBytesMax: 1_000_000,
    underWayMax: 4,
    giveUpMs: GIVE_UP_MS,
    retryMs: 10,
    timers: time,
    ...given,
  });
  const stopped = new AbortController();
  /** Last message that came back. */
  const back = { message: 0 };
  const onMessage = ({ id, number }: { id: string; number: number }) => {
    back.message = number;
    publisher.noteReturned(id, number);
  };
  const following = stream.follow(1, onMessage, stopped.signal);
  return {
    time,
    random,
    servers,
    stream,
    publisher,
    back,
    async close() {
      stopped.abort();
      await time.until(following);
    },
  };
}

/** A named frame of the given size, free space included. */
function frameOf(name: number, bytes = 16): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(bytes);
  new DataView(frame.buffer).setUint32(8, name, true);
  return frame;
}

/** Names of frames by their sequences, of all that the servers have. */
function keptFrames({ messages }: SimulatedServers): Map<number, number> {
  const kept = new Map<number, number>();
  for (const { number, bytes } of messages) {
    const view = new DataView(bytes.buffer);
    for (let at = 16, index = 0; at < bytes.length; at += 8 + view.getUint32(at, true), index++)
      kept.set(number * 1024 + index, view.getUint32(at + 8, true));
  }
  return kept;
}

function kindOf(outcome: Outcome): string {
  return outcome.ok ? "ok" : outcome.error.kind;
}

async function addAll(
  { publisher, time }: ReturnType<typeof openPublisher>,
  frames: readonly Uint8Array<ArrayBuffer>[],
) {
  return time.until(Promise.all(frames.map((frame) => publisher.add(frame))));
}

async function runRoughly(seed: number): Promise<{ taken: number; refused: number; repeated: number }> {
  const opened = openPublisher({ seed, underWayMax: 1 + (seed % 5), queueBytesMax: 20_000 });
  const { time, random, servers, stream, publisher, back } = opened;
  stream.weather = seed % 7 === 0 ? CALM : ROUGH;
  const label = `seed ${seed}`;
  const outcomes: { name: number; outcome: Outcome }[] = [];

  async function add(name: number): Promise<void> {
    await time.wait(Math.floor(random() * 300));
    const startedMs = time.nowMs();
    const outcome = await publisher.add(frameOf(name, 16 + 8 * Math.floor(random() * 200)));
    expect(time.nowMs() - startedMs, label).toBeLessThanOrEqual(GIVE_UP_MS);
    if (outcome.ok) expect(Math.floor(outcome.value / 1024), label).toBeLessThanOrEqual(back.message);
    outcomes.push({ name, outcome });
  }
  async function disturb(): Promise<void> {
    for (let step = 0; step < 4; step++) {
      await time.wait(Math.floor(random() * 100));
      const fault = Math.floor(random() * 4);
      if (fault === 0) servers.setLeaderless(random() < 0.5);
      if (fault === 1) servers.isFull = random() < 0.5;
      if (fault === 2) stream.setCut(random() < 0.5);
    }
    await time.wait(Math.floor(random() * 300));
    servers.setLeaderless(false);
    servers.isFull = false;
    stream.setCut(false);
  }

  const names = Array.from({ length: 60 }, (_, name) => name + 1);
  await time.until(Promise.all([disturb(), ...names.map(add)]));
  await time.until(publisher.idle());
  expect([publisher.bytes, outcomes.length], label).toEqual([0, names.length]);
  expect((await addAll(opened, [frameOf(1000)])).map(kindOf), label).toBeArrayOfSize(1); // It continues.
  const kept = keptFrames(servers);
  for (const { name, outcome } of outcomes) if (outcome.ok) expect(kept.get(outcome.value), label).toBe(name);
  expect(new Set(kept.values()).size, label).toBe(kept.size); // None is there twice.
  await opened.close();
  const taken = outcomes.filter(({ outcome }) => outcome.ok).length;
  return { taken, refused: names.length - taken, repeated: stream.publishes - servers.messages.length };
}

test("a process that stood still for longer than ids are known sends nothing again", async () => {
  const servers = new SimulatedServers("s", () => timers.nowMs());
  let nowMs = 0;
  const calls: { readonly atMs: number; readonly call: () => void }[] = [];
  const timers = {
    nowMs: () => nowMs,
    after(ms: number, call: () => void) {
      calls.push({ atMs: nowMs + ms, call });
      return () => undefined;
    },
  };
  const publisher = new GroupPublisher({
    stream: {
      messageBytesMax: MESSAGE_BYTES_MAX,
      async publish(bytes, id) {
        servers.keep(bytes, id);
        throw new StreamError("unreachable", "the answer was lost");
      },
    },
    idPrefix: "n",
    queueBytesMax: 1000,
    underWayMax: 1,
    giveUpMs: 15_000,
    retryMs: 10,
    timers,
  });
  const told = publisher.add(frameOf(1));
  await turns();
  servers.keep(new Uint8Array(8), "of another node, and newer");
  nowMs = 180_000; // All due calls run, the earliest first.
  for (const { call } of calls.splice(0).sort((a, b) => a.atMs - b.atMs)) {
    call();
    await turns();
  }
  expect(kindOf(await told)).toBe("log_unreachable");
  expect(servers.messages).toHaveLength(2);
});

test("add() tells of every entry once and in time, and calls taken what has come back, whatever goes wrong", async () => {
  const sum = { taken: 0, refused: 0, repeated: 0 };
  for (let seed = 1; seed <= 150; seed++) {
    const { taken, refused, repeated } = await runRoughly(seed);
    sum.taken += taken;
    sum.refused += refused;
    sum.repeated += repeated;
  }
  expect(Math.min(sum.taken, sum.refused, sum.repeated)).toBeGreaterThan(300);
});

test("entries that wait go together, up to 1,024 and the bytes of a message, in their order", async () => {
  const opened = openPublisher({ underWayMax: 1, messageBytesMax: 64 * 1024 });
  const small = Array.from({ length: 2100 }, (_, name) => frameOf(name));
  const outcomes = await addAll(opened, small);
  const messages = outcomes.map((outcome) => (outcome.ok ? Math.floor(outcome.value / 1024) : 0));
  const sizes = [1, 2, 3, 4].map((message) => messages.filter((each) => each === message).length);
  expect(sizes).toEqual([1, 1024, 1024, 51]); // The first was sent immediately.
  expect([...keptFrames(opened.servers).values()]).toEqual(small.map((_, name) => name));
  await opened.close();

  const tight = openPublisher({ underWayMax: 1, messageBytesMax: 1000 });
  expect(tight.publisher.frameBytesMax).toBe(984);
  const large = [984, 984, 400, 400, 184, 200, 984, 16].map((bytes, name) => frameOf(name, bytes));
  const taken = await addAll(tight, large);
  expect(taken.map((outcome) => (outcome.ok ? outcome.value / 1024 : 0))).toEqual([
    1,
    2,
    3,
    3 + 1 / 1024,
    3 + 2 / 1024,
    4,
    5,
    6,
  ]);
  expect(tight.servers.messages.map(({ bytes }) => bytes.length)).toEqual([1000, 1000, 1000, 216, 1000, 32]);
  await tight.close();
});

test("entries that are much work to decode go in several messages, and one that is more by itself goes alone", async () => {
  const opened = openPublisher({ underWayMax: 1, messageBytesMax: 64 * 1024 });
  const works = [1, 4000, 4000, 192, 1, 8191, 50_000, 1];
  const outcomes = works.map((work, name) => opened.publisher.add(frameOf(name), work));
  const taken = await opened.time.until(Promise.all(outcomes));
  expect(taken.map((outcome) => (outcome.ok ? Math.floor(outcome.value / 1024) : 0))).toEqual([
    1, 2, 2, 2, 3, 3, 4, 5,
  ]);
  await opened.close();
});

test("a message whose answer is lost is sent again under its id, and is there once", async () => {
  const opened = openPublisher();
  const { stream, servers, time } = opened;
  stream.weather = { ...CALM, lostChance: 1 };
  const adding = opened.publisher.add(frameOf(7));
  await time.until(time.wait(100));
  expect([stream.publishes, servers.messages.length]).toEqual([4, 0]); // Every 30 ms.
  stream.weather = { ...CALM, lostAckChance: 1 };
  expect(await time.until(adding)).toEqual({ ok: true, value: 1024 });
  await time.until(time.wait(100)); // It is not sent again once it has come back.
  expect([stream.publishes, servers.messages.length, time.planned]).toEqual([5, 1, 0]);
  await opened.close();
});

test("a message that comes back before its answer is acknowledged immediately", async () => {
  const opened = openPublisher();
  opened.stream.weather = { ...CALM, lostAckChance: 1 };
  const outcome = await opened.time.until(opened.publisher.add(frameOf(1)));
  expect(kindOf(outcome)).toBe("ok");
  expect(opened.time.nowMs()).toBeLessThan(CALM.ackMsMax);
  expect(opened.stream.underWay).toBe(1);
  await opened.close();
});

test("a late message after its timeout changes nothing, and neither does a foreign message", async () => {
  const opened = openPublisher();
  const { publisher, stream, servers, time } = opened;
  stream.weather = { ...CALM, ackMsMax: GIVE_UP_MS + 100, lateChance: 1 };
  expect(kindOf(await time.until(publisher.add(frameOf(1))))).toBe("log_unreachable");
  expect([time.nowMs(), publisher.bytes, publisher.awaits("n.0")]).toEqual([GIVE_UP_MS, 0, false]);
  servers.keepForeign(frameOf(2));
  await time.until(time.wait(300));
  expect([opened.back.message, publisher.bytes]).toEqual([2, 0]);
  await opened.close();
});

test("a refusal that comes after an entry was given up changes nothing", async () => {
  const time = new VirtualTime();
  const publish = async () => {
    await time.wait(GIVE_UP_MS + 50);
    throw new StreamError("full", "maximum bytes exceeded");
  };
  const stream = { messageBytesMax: MESSAGE_BYTES_MAX, publish };
  const { publisher } = openPublisher({ stream, timers: time, underWayMax: 1 });
  expect(kindOf(await time.until(publisher.add(frameOf(1))))).toBe("log_unreachable");
  const second = publisher.add(frameOf(2));
  await time.until(time.wait(60));
  expect(publisher.bytes).toBe(16);
  expect(kindOf(await time.until(second))).toBe("log_unreachable");
  await time.until(time.wait(GIVE_UP_MS));
  expect([publisher.bytes, publisher.isFull]).toEqual([0, true]);
});

test("entries that found no room among what is under way are given up as soon as those that did", async () => {
  const opened = openPublisher({ underWayMax: 1 });
  const { publisher, stream, time } = opened;
  stream.weather = { ...CALM, ackMsMax: 10 * GIVE_UP_MS };
  stream.setCut(true);
  const first = publisher.add(frameOf(1));
  await time.until(time.wait(50));
  const second = publisher.add(frameOf(2));
  await time.until(time.wait(50));
  const third = publisher.add(frameOf(3));
  const endsMs: number[] = [];
  for (const adding of [first, second, third]) {
    expect(kindOf(await time.until(adding))).toBe("log_unreachable");
    endsMs.push(time.nowMs());
  }
  expect(endsMs).toEqual([GIVE_UP_MS, GIVE_UP_MS + 50, GIVE_UP_MS + 100]);
  await time.until(publisher.idle());
  expect([publisher.bytes, stream.underWay]).toEqual([0, 1]);
  stream.setCut(false);
  expect((await addAll(opened, [frameOf(4)])).map(kindOf)).toEqual(["log_unreachable"]);
  await time.until(time.wait(2000)); // Now the servers' silence has made room.
  expect((await addAll(opened, [frameOf(5)])).map(kindOf)).toEqual(["ok"]);
  await opened.close();
});

test("idle() resolves as soon as the last entry that waits is refused, also where none is under way", async () => {
  const opened = openPublisher({ underWayMax: 1 });
  const { publisher, stream, time } = opened;
  stream.weather = { ...CALM, ackMsMax: 10 * GIVE_UP_MS };
  stream.setCut(true);
  const first = publisher.add(frameOf(1));
  await time.until(first);
  const second = publisher.add(frameOf(2));
  const idle = publisher.idle();
  publisher.stop({ kind: "log_closed" });
  await time.until(idle, 0);
  expect([kindOf(await second), publisher.bytes]).toEqual(["log_closed", 0]);
  await opened.close();
});

test("a full stream refuses immediately, and accepts messages when there is room again", async () => {
  const opened = openPublisher();
  const { publisher, servers, time } = opened;
  servers.isFull = true;
  expect(kindOf(await time.until(publisher.add(frameOf(1))))).toBe("log_full");
  expect([publisher.isFull, publisher.bytes]).toEqual([true, 0]);
  expect(time.nowMs()).toBeLessThan(10);
  servers.isFull = false;
  expect(kindOf(await time.until(publisher.add(frameOf(2))))).toBe("ok");
  await time.until(time.wait(20));
  expect(publisher.isFull).toBe(false);
  await opened.close();
});

test("add() refuses what finds no room in the queue, and takes the longest entry where nothing waits", async () => {
  const opened = openPublisher({ queueBytesMax: 100 });
  const { publisher, time } = opened;
  const first = publisher.add(frameOf(1, 800));
  expect(kindOf(await publisher.add(frameOf(2)))).toBe("log_queue_full");
  expect(kindOf(await time.until(first))).toBe("ok");
  const pair = [publisher.add(frameOf(3, 48)), publisher.add(frameOf(4, 48)), publisher.add(frameOf(5))];
  const outcomes = await time.until(Promise.all(pair));
  expect(outcomes.map(kindOf)).toEqual(["ok", "ok", "log_queue_full"]);
  await opened.close();
});

test("stop() tells everybody why, ends what is sent again, and leaves no timer", async () => {
  const opened = openPublisher({ underWayMax: 2 });
  const { publisher, stream, time } = opened;
  stream.setCut(true);
  const adding = Array.from({ length: 5 }, (_, name) => publisher.add(frameOf(name)));
  await time.until(time.wait(45));
  const idle = publisher.idle();
  publisher.stop({ kind: "log_failed", cause: "test" });
  await time.until(idle, 0);
  expect((await Promise.all(adding)).map(kindOf)).toEqual(adding.map(() => "log_failed"));
  expect(kindOf(await publisher.add(frameOf(9)))).toBe("log_failed");
  const { publishes } = stream;
  await time.until(time.wait(100));
  expect([stream.publishes, time.planned, publisher.bytes]).toEqual([publishes, 0, 0]);
  await opened.close();
});
