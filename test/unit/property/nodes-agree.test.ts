import { expect, setDefaultTimeout, test } from "bun:test";
import { utcDayOf } from "../../../src/model/time/utc-day.ts";
import type { ReferenceRecords } from "../../reference/records.ts";
import type { Report } from "../../support/reports/batches.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { SimulatedNode } from "../../support/stream/simulated-node.ts";
import { SimulatedServers } from "../../support/stream/simulated-servers.ts";
import { CALM, ROUGH } from "../../support/stream/simulated-stream.ts";
import { layStream, type SentPost } from "../../support/stream/stream-model.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";

// Its cases compute for seconds on a quiet machine, and wait for nothing.
setDefaultTimeout(60_000);

/*
 * Goal: nodes that share a log know the same, and say the same of what they take. Method: three nodes over one
 * simulated stream take reports that contradict each other, while messages and answers are lost, late and repeated, the
 * servers have no leader or no room, and nodes are cut off, stopped, killed and started anew from what their last trim
 * left them. The obvious model lays all that the stream ever had over one another, in its order: every answer is what
 * the model says of that place in the stream, and in the end every node has what the model has. Time is the test's own,
 * and everything is drawn from a seed, which a failure names.
 */

const ROUNDS = 100;
const APPS = ["app", "other"];
const DEVICES = ["a", "b", "c"];
const BASE_MS = Date.UTC(2026, 0, 15);
const DAY_MS = 86_400_000;
const GIVE_UP_MS = 400;
/** Reports are of the phase's day: those of days two phases ago are archived. */
const PHASES = 5;
const PHASE_MS = 1500;
const POSTS_A_PHASE = 20;

class Round {
  readonly label: string;
  readonly posts: SentPost[] = [];
  readonly nodes: SimulatedNode[];
  readonly time = new VirtualTime();
  readonly servers: SimulatedServers;
  readonly random: () => number;
  phase = 0;
  restarts = 0;

  constructor(seed: number) {
    this.label = `seed ${seed}`;
    this.random = seededRandom(seed * 7919);
    this.servers = new SimulatedServers("wherehouse", () => this.time.nowMs(), this.draw(3) === 0 ? 1000 : 1);
    const weather = seed % 4 === 0 ? CALM : ROUGH;
    const { servers, time, random } = this;
    this.nodes = ["x", "y", "z"].map(
      (name) => new SimulatedNode({ name, servers, time, random, weather, giveUpMs: GIVE_UP_MS }),
    );
  }

  /** A whole number from 0 to below this one. */
  draw(below: number): number {
    return Math.floor(this.random() * below);
  }

  drawReport(): Report {
    const report: Record<string, unknown> = {
      device_id: DEVICES[this.draw(DEVICES.length)],
      timestamp: BASE_MS + this.phase * DAY_MS + this.draw(4) * 1000,
      latitude: this.draw(3),
      longitude: this.draw(2),
    };
    if (this.draw(3) === 0) report.speed = this.draw(2);
    if (this.draw(2) === 0) report.horizontal_accuracy = this.draw(3);
    if (this.draw(3) === 0) report.user_id = ["u", "v"][this.draw(2)];
    if (this.draw(3) === 0) report.type = ["MOVING", "STATIONARY"][this.draw(2)];
    return report;
  }

  async post(): Promise<void> {
    await this.time.wait(this.draw(PHASE_MS));
    const node = this.nodes[this.draw(3)]!;
    if (!node.isUp) return;
    const reports = Array.from({ length: 1 + this.draw(6) }, () => this.drawReport());
    const post: SentPost = { appId: APPS[this.draw(2)]!, reports, answer: null };
    this.posts.push(post);
    const outcome = await node.post(post.appId, reports);
    if (outcome.ok) post.answer = outcome.value;
  }

  async disturb(): Promise<void> {
    await this.time.wait(this.draw(PHASE_MS));
    const node = this.nodes[this.draw(3)]!;
    switch (this.draw(5)) {
      case 0:
        this.servers.setLeaderless(true);
        await this.time.wait(this.draw(2 * GIVE_UP_MS));
        return this.servers.setLeaderless(false);
      case 1:
        this.servers.isFull = true;
        await this.time.wait(this.draw(GIVE_UP_MS));
        this.servers.isFull = false;
        return;
      case 2: {
        if (!node.isUp) return;
        const { stream } = node;
        stream.setCut(true);
        await this.time.wait(this.draw(2 * GIVE_UP_MS));
        return stream.setCut(false);
      }
      default:
        if (node.isUp) return this.restart(node, this.draw(2) === 0);
    }
  }

  async restart(node: SimulatedNode, isKilled: boolean): Promise<void> {
    this.restarts++;
    if (isKilled) await node.kill();
    else await node.stop();
    await this.time.wait(this.draw(PHASE_MS / 2));
    await this.startUntilItIs(node);
  }

  /** Servers without a leader refuse a start, which is then tried again. */
  async startUntilItIs(node: SimulatedNode): Promise<void> {
    for (;;) {
      try {
        return await node.start();
      } catch (error) {
        if ((error as { kind?: string }).kind !== "unreachable") throw error;
        await this.time.wait(50);
      }
    }
  }

  /** Nodes give up what is archived by now, and the stream what no node needs. */
  async trim(): Promise<void> {
    const firstDay = this.firstDay;
    for (const node of this.nodes) {
      await this.time.wait(this.draw(50));
      if (node.isUp) await node.trim({ isCovered: (day) => day < firstDay, isExpired: () => false });
    }
    this.servers.purgeBefore(Math.min(...this.nodes.map(({ floor }) => floor)));
  }

  /** The first that is not archived. */
  get firstDay(): number {
    return utcDayOf(BASE_MS + (this.phase - 1) * DAY_MS);
  }

  async run(): Promise<void> {
    for (const node of this.nodes) await node.start();
    for (; this.phase < PHASES; this.phase++) {
      const posts = Array.from({ length: POSTS_A_PHASE }, () => this.post());
      const disturbances = Array.from({ length: 3 }, () => this.disturb());
      await Promise.all([this.trim(), ...posts, ...disturbances]);
      // Of what was given up some may come late, so a day's last reports may come in the next phase.
    }
    this.phase--;
    await this.time.wait(GIVE_UP_MS); // What was given up may still be on its way.
    for (const node of this.nodes) await node.catchUp();
  }

  async expectAgreement(): Promise<void> {
    const { models, broken } = layStream(this.servers, APPS, this.posts);
    expect(broken, this.label).toBeNull();
    for (const node of this.nodes) {
      expect(node.failures, this.label).toEqual([]);
      await this.expectRecords(node, models);
      await this.restart(node, true); // And so it is from its floor on.
      await this.expectRecords(node, models);
      await node.stop();
    }
  }

  async expectRecords(node: SimulatedNode, models: ReadonlyMap<string, ReferenceRecords>): Promise<void> {
    const range = {
      startMs: BASE_MS + (this.phase - 1) * DAY_MS,
      endMs: BASE_MS + (this.phase + 2) * DAY_MS,
    };
    for (const appId of APPS) {
      for (const device of DEVICES) {
        const expected = models
          .get(appId)!
          .recordsOf(device)
          .filter(({ timestamp }) => timestamp >= range.startMs);
        const found: unknown = await node.recordsOf(appId, device, range);
        expect(found, `${this.label}, ${appId}, ${device}`).toEqual([...expected]);
      }
    }
  }
}

test(`three nodes over one stream agree with each other and with the model, in ${ROUNDS} rounds`, async () => {
  const sum = { acknowledged: 0, refused: 0, restarts: 0, purged: 0 };
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const round = new Round(seed);
    await round.time.until(round.run().then(() => round.expectAgreement()));
    const acknowledged = round.posts.filter(({ answer }) => answer !== null).length;
    sum.acknowledged += acknowledged;
    sum.refused += round.posts.length - acknowledged;
    sum.restarts += round.restarts;
    sum.purged += round.servers.history.length - round.servers.messages.length;
  }
  expect(sum.acknowledged).toBeGreaterThan(40 * ROUNDS);
  expect(Math.min(sum.refused, sum.restarts, sum.purged)).toBeGreaterThan(ROUNDS);
});
