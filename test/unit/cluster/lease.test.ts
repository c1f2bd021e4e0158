import { expect, test } from "bun:test";
import { Lease } from "../../../src/cluster/lease.ts";
import { type Bucket, StreamError } from "../../../src/cluster/stream/stream.ts";
import type { Timers } from "../../../src/lib/schedule/timers.ts";
import * as fc from "../../support/fast-check.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { SimulatedBucket, SimulatedValues } from "../../support/stream/simulated-bucket.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";

/*
 * Several nodes and one lease, over a simulated bucket and a time of our own: processes stand still and go on, messages
 * take long or are lost, and never do two nodes hold the lease at once.
 */

/** The timers of a process that may be suspended: calls that are due meanwhile run when it resumes. */
class ProcessTime implements Timers {
  isStopped = false;
  readonly #time: VirtualTime;
  #due: (() => void)[] = [];

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  nowMs(): number {
    return this.#time.nowMs();
  }

  after(ms: number, call: () => void): () => void {
    let isCancelled = false;
    const run = () => {
      if (!isCancelled) call();
    };
    const cancel = this.#time.after(ms, () => {
      if (this.isStopped) this.#due.push(run);
      else run();
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** In random order. */
  continue(random: () => number): void {
    this.isStopped = false;
    const due = this.#due.splice(0).sort(() => random() - 0.5);
    for (const call of due) call();
  }
}

interface Weather {
  readonly delayMsMax: number;
  readonly lostChance: number;
}

class Node {
  readonly time: ProcessTime;
  readonly said: string[] = [];
  readonly lease: Lease;
  weather: Weather;
  readonly #time: VirtualTime;
  readonly #random: () => number;

  constructor(
    id: string,
    values: SimulatedValues,
    time: VirtualTime,
    random: () => number,
    weather: Weather,
  ) {
    this.#time = time;
    this.#random = random;
    this.weather = weather;
    this.time = new ProcessTime(time);
    this.lease = new Lease({
      bucket: this.#bucket(new SimulatedBucket(values, () => this.#travel())),
      key: "mqtt-lease",
      nodeId: id,
      processId: `${id}.1`,
      timers: this.time,
      onHeld: () => this.said.push("held"),
      onLost: () => this.said.push("lost"),
      onElsewhere: (holder) => this.said.push(`elsewhere ${holder}`),
      onNote: (note) => this.said.push(note),
    });
  }

  /** Whether it does now what only the holder may do. */
  get acts(): boolean {
    return !this.time.isStopped && this.lease.isHeld;
  }

  /** A request continues without the process, and its answer waits for it. */
  #bucket(inner: SimulatedBucket): Pick<Bucket, "get" | "update"> {
    const answered = async <Answer>(question: Promise<Answer>): Promise<Answer> => {
      const outcome = await question.then(
        (value) => () => value,
        (error: unknown) => () => {
          throw error;
        },
      );
      const isLost = this.#random() < this.weather.lostChance;
      await new Promise<void>((resolve) => this.time.after(isLost ? 5000 : this.#delayMs(), resolve));
      if (isLost) throw new StreamError("unreachable", "no answer came");
      return outcome();
    };
    return {
      get: (key) => answered(inner.get(key)),
      update: (key, value, revision) => answered(inner.update(key, value, revision)),
    };
  }

  #travel(): Promise<void> {
    return this.#time.wait(this.#delayMs());
  }

  #delayMs(): number {
    return Math.floor(this.#random() * this.weather.delayMsMax);
  }
}

const CALM: Weather = { delayMsMax: 20, lostChance: 0 };

function openNodes(count: number, seed = 1, weather = CALM) {
  const time = new VirtualTime();
  const values = new SimulatedValues();
  const random = seededRandom(seed);
  const nodes = Array.from({ length: count }, (_, i) => new Node(`n${i}`, values, time, random, weather));
  return { time, values, random, nodes };
}

/** Advances time, checks that at most one node acts, and returns for how long none did. */
async function pass(time: VirtualTime, nodes: readonly Node[], ms: number): Promise<number> {
  let idleMs = 0;
  for (let left = ms; left > 0; left -= 50) {
    await time.until(time.wait(50));
    const acting = nodes.filter(({ acts }) => acts);
    if (acting.length > 1) throw new Error(`At ${time.nowMs()} ms ${acting.length} nodes act at once.`);
    if (acting.length === 0) idleMs += 50;
  }
  return idleMs;
}

const holderOf = (nodes: readonly Node[]) => nodes.findIndex(({ acts }) => acts);

test("one of several nodes holds the lease, and the others know which", async () => {
  const { time, nodes } = openNodes(3);
  await pass(time, nodes, 10_000);
  const holder = holderOf(nodes);
  expect(holder).not.toBe(-1);
  expect(await pass(time, nodes, 600_000)).toBe(0);
  expect(holderOf(nodes)).toBe(holder);
  for (const [index, { said }] of nodes.entries())
    expect(said).toEqual(index === holder ? ["held"] : [`elsewhere n${holder}`]);
});

test("another node takes the lease of a lost node after 15 to 20 s, and a released lease immediately", async () => {
  const { time, nodes } = openNodes(3);
  await pass(time, nodes, 10_000);
  const gone = nodes[holderOf(nodes)]!;
  gone.time.isStopped = true;
  const idleMs = await pass(time, nodes, 60_000);
  expect(idleMs).toBeGreaterThan(12_000); // 15 s from when it was last seen.
  expect(idleMs).toBeLessThan(20_000);
  const second = nodes[holderOf(nodes)]!;
  await time.until(second.lease.release());
  expect(second.lease.isHeld).toBe(false);
  expect(await pass(time, nodes, 60_000)).toBeLessThan(4000);
  expect(second.said).toEqual(expect.not.arrayContaining(["lost"]));
});

test("a node that was suspended does not act any more, even before its next request", async () => {
  const { time, nodes, random } = openNodes(2);
  await pass(time, nodes, 10_000);
  const stopped = nodes[holderOf(nodes)]!;
  stopped.time.isStopped = true;
  await pass(time, nodes, 60_000);
  stopped.time.isStopped = false; // Nothing that was due has come yet: a message may be first.
  expect(stopped.lease.isHeld).toBe(false);
  expect(stopped.said.at(-1)).toBe("lost");
  stopped.time.continue(random);
  expect(await pass(time, nodes, 60_000)).toBe(0);
});

test("an owner that reaches no server stops before another node starts", async () => {
  const { time, nodes } = openNodes(2);
  await pass(time, nodes, 10_000);
  const holder = nodes[holderOf(nodes)]!;
  holder.weather = { delayMsMax: 1, lostChance: 1 };
  // Its writes still reach the servers, so no other node takes the lease; it does not know, and stops.
  await pass(time, nodes, 30_000);
  expect(holder.said).toContain("lost");
  holder.weather = CALM;
  await pass(time, nodes, 30_000);
  expect(holderOf(nodes)).not.toBe(-1);
});

test("the next process of a node continues its lease, and an unreadable value expires like others", async () => {
  const { time, nodes, values, random } = openNodes(1);
  await pass(time, nodes, 10_000);
  nodes[0]!.time.isStopped = true;
  const next = new Node("n0", values, time, random, CALM);
  expect(await pass(time, [next], 5000)).toBeLessThan(200);
  next.time.isStopped = true;
  values.write("mqtt-lease", new TextEncoder().encode('{"version":2}'));
  const other = new Node("n1", values, time, random, CALM);
  const idleMs = await pass(time, [other], 60_000);
  expect(idleMs).toBeGreaterThan(14_000);
  expect(idleMs).toBeLessThan(20_000);
});

test("two nodes never act at the same time, whichever is suspended, and finally one does", async () => {
  const step = fc.record({
    node: fc.nat(2),
    what: fc.constantFrom("stop", "continue", "release", "pass", "storm", "calm"),
    ms: fc.integer({ min: 0, max: 40_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), fc.integer(), async (steps, seed) => {
      const { time, nodes, random } = openNodes(3, seed, { delayMsMax: 4000, lostChance: 0.2 });
      const releases: Promise<void>[] = [];
      const released = new Set<Node>();
      for (const { node: index, what, ms } of steps) {
        const node = nodes[index]!;
        if (what === "stop") node.time.isStopped = true;
        else if (what === "continue") node.time.continue(random);
        else if (what === "storm") node.weather = { delayMsMax: 12_000, lostChance: 0.5 };
        else if (what === "calm") node.weather = CALM;
        else if (what === "release" && released.size < 2 && !released.has(node)) {
          released.add(node);
          releases.push(node.lease.release());
        }
        await pass(time, nodes, ms);
      }
      for (const node of nodes) {
        node.weather = CALM;
        node.time.continue(random);
      }
      await pass(time, nodes, 60_000);
      expect(holderOf(nodes)).not.toBe(-1);
      expect(await pass(time, nodes, 30_000)).toBe(0);
      await time.until(Promise.all(releases));
    }),
    { numRuns: Number(process.env.WHEREHOUSE_LEASE_RUNS ?? 60) },
  );
});
