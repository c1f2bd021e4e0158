import { expect, test } from "bun:test";
import { ignoreFileError } from "../../../../src/runtime/files.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { CALM, ROUGH } from "../../../support/stream/simulated-stream.ts";
import { openWorld, type TestNode } from "./nodes.ts";

/*
 * Goal: the quarantines of three nodes are one. Method: each puts and deletes what a seed says, while messages and
 * answers are lost, late and repeated, disks are full, servers have no leader, nodes seal, stop, lose their power and
 * start again, and the stream is purged of what none of them needs. In the end
 * all show the same in the same order; what was acknowledged and never deleted is there, and what was deleted last is
 * not.
 */

const ROUNDS = 60;
const STEPS = 60;
const BODIES = 12;

/** What is known of a body for sure; null where the last that was asked for it may be done or not. */
type Known = "kept" | "gone" | null;

class Round {
  readonly label: string;
  readonly world: ReturnType<typeof openWorld>;
  readonly #random: () => number;
  readonly #known = new Map<string, Known>();
  /** Pending operations of a body; if there are several, their order is unknown. */
  readonly #underWay = new Map<string, number>();
  readonly #mixed = new Set<string>();
  readonly #undecided = new Set<string>();
  readonly #calmness: number;
  #clockMs = 1000;
  restarts = 0;
  fullDisks = 0;
  seals = 0;

  constructor(seed: number) {
    this.label = `seed ${seed}`;
    this.#random = seededRandom(seed * 104_729);
    this.#calmness = seed % 3 === 0 ? 100 : 8;
    const weather = seed % 4 === 0 ? CALM : ROUGH;
    this.world = openWorld({ seed, weather, messageBytesMax: 2048 });
  }

  #draw(below: number): number {
    return Math.floor(this.#random() * below);
  }

  async run(): Promise<void> {
    const { nodes, time } = this.world;
    await Promise.all(nodes.map((node) => this.#startUntilItIs(node)));
    const doing: Promise<void>[] = [];
    for (let step = 0; step < STEPS; step++) {
      await time.wait(this.#draw(300));
      doing.push(this.#draw(this.#calmness) === 0 ? this.#disturb() : this.#change());
    }
    await Promise.all(doing);
    for (const node of nodes) {
      if (!node.isUp) await this.#startUntilItIs(node);
      node.files.capacityBytes = Number.POSITIVE_INFINITY;
    }
    await time.wait(120_000); // A disk that refused is tried again, and what came again was told.
  }

  async #change(): Promise<void> {
    const node = this.world.nodes[this.#draw(3)]!;
    if (!node.isUp) return;
    const name = `${this.#draw(BODIES)}`;
    const isPut = this.#draw(3) > 0;
    const underWay = this.#underWay.get(name) ?? 0;
    this.#underWay.set(name, underWay + 1);
    if (underWay > 0) this.#mixed.add(name);
    this.#known.set(name, null);
    const isDone = isPut ? await this.#put(node, name) : await this.#delete(node, name);
    const left = this.#underWay.get(name)! - 1;
    this.#underWay.set(name, left);
    // What was given up may come later all the same.
    if (!isDone) this.#undecided.add(name);
    // Whether it was alone all the time: what came meanwhile has said otherwise.
    if (isDone && underWay === 0 && left === 0 && !this.#mixed.delete(name))
      this.#known.set(name, isPut ? "kept" : "gone");
  }

  async #put(node: TestNode, name: string): Promise<boolean> {
    const body = Uint8Array.from({ length: Number(name) * 900 }, () => 7);
    return (await node.put(body, { deviceId: name, arrivedMs: this.#clockMs++ })).ok;
  }

  /** A node deletes only entries that it knows. */
  async #delete(node: TestNode, name: string): Promise<boolean> {
    const known = node.shown().find(({ deviceId }) => deviceId === name);
    if (known === undefined) return false;
    return (await node.delete(known.id)).ok;
  }

  async #disturb(): Promise<void> {
    const { nodes, servers, time } = this.world;
    const node = nodes[this.#draw(3)]!;
    switch (this.#draw(7)) {
      case 0:
        servers.setLeaderless(true);
        await time.wait(this.#draw(900));
        return servers.setLeaderless(false);
      case 1: {
        const { files } = node;
        this.fullDisks++;
        files.capacityBytes = 0;
        await time.wait(this.#draw(2000));
        files.capacityBytes = Number.POSITIVE_INFINITY;
        return;
      }
      case 2:
      case 3:
        if (!node.isUp) return;
        await node.seal().catch(ignoreFileError);
        servers.purgeBefore(Math.min(...nodes.map(({ floor }) => floor)));
        this.seals++;
        return;
      default: {
        if (!node.isUp) return;
        this.restarts++;
        if (this.#draw(2) === 0) await node.kill();
        else await node.stop();
        await time.wait(this.#draw(3000));
        await this.#startUntilItIs(node);
      }
    }
  }

  async #startUntilItIs(node: TestNode): Promise<void> {
    for (;;) {
      try {
        return await node.start();
      } catch (error) {
        if ((error as { kind?: string }).kind !== "unreachable") throw error;
        await this.world.time.wait(50);
      }
    }
  }

  check(): number {
    const { nodes, x } = this.world;
    const shown = x.shown();
    for (const node of nodes) expect(node.shown(), this.label).toEqual(shown);
    const there = new Set(shown.map(({ deviceId }) => deviceId));
    let sure = 0;
    for (const [name, known] of this.#known) {
      if (known === null || this.#undecided.has(name)) continue;
      sure++;
      expect([this.label, name, there.has(name)]).toEqual([this.label, name, known === "kept"]);
    }
    return sure;
  }
}

test("nodes agree on what is in quarantine, and on what was acknowledged", async () => {
  let [sure, restarts, seals] = [0, 0, 0];
  for (let seed = 1; seed <= ROUNDS; seed++) {
    const round = new Round(seed);
    await round.world.time.until(round.run());
    sure += round.check();
    restarts += round.restarts;
    seals += round.seals;
  }
  expect([sure > 200, restarts > 60, seals > 60]).toEqual([true, true, true]);
});
