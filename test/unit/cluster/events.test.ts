import { afterAll, expect, test } from "bun:test";
import type { WatchEvent } from "../../../src/geofences/watch.ts";
import { createManualClock, type ManualClock } from "../../../src/model/time/clock.ts";
import { MS_PER_DAY, MS_PER_HOUR, MS_PER_MINUTE } from "../../../src/model/time/units.ts";
import { watchClockEntry } from "../../../src/model/watches/watch-clock-entry.ts";
import { FileError } from "../../../src/runtime/files.ts";
import { removeArchiveApps } from "../../support/archive-app.ts";
import { EventCluster, type EventNode } from "../../support/geofences/event-cluster.ts";
import { RANDOM_SEED, randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { CALM, ROUGH } from "../../support/stream/simulated-stream.ts";
import { until } from "../../support/until.ts";

/*
 * Events in a cluster: all nodes store the same events with the same revisions in the same order, whichever node
 * publishes and whichever is killed, and these are the events that the records make.
 */

afterAll(removeArchiveApps);

const START_MS = Date.UTC(2026, 2, 20);
const DEVICES = ["bus", "tram", "van"];
const CENTER = [13.4, 52.5] as const;
const METERS_PER_DEGREE = 111_195;
const NODES = 3;

const FENCES = [
  { radius_meters: 100, initial: "event" },
  { radius_meters: 100, confirmations: 2, dwell_seconds: 1800 },
  { radius_meters: 150, confirm_seconds: 600, silence_minutes: 90 },
].map((properties) => ({ type: "Feature", geometry: { type: "Point", coordinates: CENTER }, properties }));

/** What may happen to a cluster. */
class Life {
  readonly cluster: EventCluster;
  readonly #random: () => number;
  readonly #clock: ManualClock;
  readonly #corrections: string[] = [];

  private constructor(cluster: EventCluster, clock: ManualClock, random: () => number) {
    this.cluster = cluster;
    this.#clock = clock;
    this.#random = random;
  }

  static async begin(seed: number): Promise<Life> {
    const clock = createManualClock(START_MS);
    const random = seededRandom(seed);
    const weather = random() < 0.5 ? CALM : ROUGH;
    const cluster = new EventCluster({ clock, random, weather });
    for (let count = 0; count < NODES; count++) await cluster.addNode();
    cluster.lead(cluster.nodes[0]!);
    const life = new Life(cluster, clock, random);
    for (const fence of FENCES) await life.#node().ask("POST", "geofences", fence);
    return life;
  }

  #pick(count: number): number {
    return Math.floor(this.#random() * count);
  }

  #node(): EventNode {
    return this.cluster.nodes[this.#pick(NODES)]!;
  }

  async step(): Promise<void> {
    this.#clock.advance(this.#pick(2 * MS_PER_HOUR));
    switch (this.#pick(16)) {
      case 0:
        return this.cluster.lead(this.#node(), this.#random() < 0.5);
      case 1:
        return this.#restart();
      case 2:
        return this.#correct();
      case 3:
        return void (await this.cluster.settle());
      case 4:
      case 5:
        return this.moveClock();
      default:
        return this.#report();
    }
  }

  /** Devices go in and out; some reports are up to three days late. */
  async #report(): Promise<void> {
    const device_id = DEVICES[this.#pick(DEVICES.length)]!;
    const nowMs = this.#clock.nowMs();
    const reports = Array.from({ length: 1 + this.#pick(8) }, () => {
      const lateMs = this.#random() < 0.2 ? this.#random() * 3 * MS_PER_DAY : this.#pick(MS_PER_HOUR);
      const minute = Math.floor(Math.max(START_MS + MS_PER_HOUR, nowMs - lateMs) / MS_PER_MINUTE);
      const latitude = CENTER[1] + (this.#random() < 0.5 ? 20 : 400) / METERS_PER_DEGREE;
      return { device_id, timestamp: minute * MS_PER_MINUTE, latitude, longitude: CENTER[0] };
    });
    await this.#node().report(reports.filter(({ timestamp }) => timestamp <= nowMs));
  }

  async moveClock(): Promise<void> {
    const { log } = this.#node().app.directory;
    await this.cluster.until(log.appendStanding(watchClockEntry(this.#clock.nowMs())));
  }

  async #correct(): Promise<void> {
    const known = this.#corrections.pop();
    if (known !== undefined && this.#random() < 0.5) {
      await this.#node()
        .ask("DELETE", `corrections/${known}`)
        .catch(() => undefined); // Later ones stand in its way, or the node does not know it yet.
      return;
    }
    const start = Math.floor(START_MS + this.#random() * (this.#clock.nowMs() - START_MS));
    const end = Math.floor(start + MS_PER_DAY * this.#random());
    const selection = { device_id: DEVICES[this.#pick(DEVICES.length)]!, start, end };
    const made = await this.#node()
      .ask("POST", "corrections", { action: "hide", ...selection })
      .catch(() => ({}));
    const { correction } = made as { readonly correction?: { readonly id: string } };
    if (correction !== undefined) this.#corrections.push(correction.id);
  }

  /** A process ends, told to or not, and the next one begins. */
  async #restart(): Promise<void> {
    const node = this.#node();
    const led = this.cluster.leader === node;
    if (this.#random() < 0.5) await node.kill();
    else await node.close();
    if (led) this.cluster.lead(this.cluster.nodes.find((other) => other !== node)!, false);
    await node.start();
  }

  expected(node: EventNode): Promise<WatchEvent[]> {
    return node.expected(DEVICES, { startMs: START_MS - MS_PER_DAY, endMs: START_MS + 60 * MS_PER_DAY });
  }
}

const byId = (events: readonly WatchEvent[]) => events.toSorted((a, b) => (a.id < b.id ? -1 : 1));

test("all nodes store the same events in the same order, whichever node publishes and whichever is killed", async () => {
  for (let run = 0; run < randomRuns(10); run++) {
    const seed = RANDOM_SEED * 1000 + run;
    const life = await Life.begin(seed);
    try {
      for (let step = 0; step < 60; step++) await life.step();
      await life.moveClock();
      await life.cluster.settle();
      const [first, ...others] = life.cluster.nodes;
      const stored = first!.stored();
      expect(stored.length).toBeGreaterThan(5);
      for (const other of others) expect({ seed, stored: other.stored() }).toEqual({ seed, stored });
      const current = stored.filter(({ isWithdrawn }) => !isWithdrawn).map(({ event }) => event);
      expect({ seed, events: byId(current) }).toEqual({ seed, events: byId(await life.expected(first!)) });
    } finally {
      await life.cluster.close();
    }
  }
}, 60_000);

test("a seal drops entries of events that the database has, and a node that starts afterwards still has all events", async () => {
  const clock = createManualClock(START_MS);
  const cluster = new EventCluster({ clock, random: seededRandom(1), weather: CALM });
  const [first, second] = [await cluster.addNode(), await cluster.addNode()];
  try {
    cluster.lead(first);
    await second.ask("POST", "geofences", FENCES[0]);
    await cluster.settle();
    await cluster.until(second.app.seal()); // The next one has no other entries to write into the archive.
    clock.advance(MS_PER_HOUR);
    const place = { latitude: CENTER[1], longitude: CENTER[0] };
    await second.report(DEVICES.map((device_id) => ({ device_id, timestamp: clock.nowMs(), ...place })));
    await cluster.settle();
    const stored = first.stored();
    expect(stored.length).toBe(DEVICES.length);
    const { lastMessage } = cluster.servers.state();
    clock.advance(10 * MS_PER_DAY);
    await cluster.until(second.app.seal());
    expect(second.floor).toBeGreaterThan(lastMessage);
    await second.close();
    await second.start();
    await cluster.settle();
    expect(second.stored()).toEqual(stored);
  } finally {
    await cluster.close();
  }
});

test("a node whose database fails stores the events of that time once the database works again", async () => {
  const clock = createManualClock(START_MS);
  const cluster = new EventCluster({ clock, random: seededRandom(1), weather: CALM });
  const [first, second] = [await cluster.addNode(), await cluster.addNode()];
  try {
    cluster.lead(first);
    await first.ask("POST", "geofences", FENCES[0]);
    await cluster.settle();
    const { eventStore } = second.app.directory;
    const { database, transact } = eventStore;
    const { prepare } = database;
    const fail = () => {
      throw new FileError("write", "events.sqlite", "EIO");
    };
    eventStore.transact = fail;
    database.prepare = fail;
    clock.advance(MS_PER_HOUR);
    const place = { latitude: CENTER[1], longitude: CENTER[0] };
    await second.report(DEVICES.map((device_id) => ({ device_id, timestamp: clock.nowMs(), ...place })));
    await cluster.until(until(() => first.stored().length === DEVICES.length));
    const waits = "Events and deliveries wait, and are stored once this works again";
    await cluster.until(until(() => second.app.notes.some((note) => note.startsWith(waits))));
    database.prepare = prepare;
    expect(second.stored()).toEqual([]);
    eventStore.transact = transact;
    await cluster.until(until(() => second.stored().length === DEVICES.length));
    await cluster.settle();
    expect(second.stored()).toEqual(first.stored());
  } finally {
    await cluster.close();
  }
});
