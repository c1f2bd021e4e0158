import { expect, setDefaultTimeout, test } from "bun:test";
import { MessageReader } from "../../../src/cluster/log/group-message.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import { profileOf } from "../../reference/profiles.ts";
import { randomRuns } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { SimulatedNode } from "../../support/stream/simulated-node.ts";
import { SimulatedServers } from "../../support/stream/simulated-servers.ts";
import { CALM, ROUGH } from "../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../support/stream/virtual-time.ts";

setDefaultTimeout(60_000);

/*
 * Goal: nodes that share a log have the same profiles of devices. Method: three nodes over one simulated stream take
 * profiles and reports, seal at different times, and are stopped, killed and started anew from what their last seal
 * left them, while messages and answers are lost, late and repeated. A map that is filled from all that the stream ever
 * had is the model; what was acknowledged to a client is visible to it at once.
 */

const APPS = ["app", "other"] as AppId[];
const DEVICES = ["a", "b", "c"] as DeviceId[];
const BASE_MS = Date.UTC(2026, 0, 15);
const GIVE_UP_MS = 400;
const STEPS = 40;

class Round {
  readonly time = new VirtualTime();
  readonly servers = new SimulatedServers("wherehouse", () => this.time.nowMs());
  readonly random: () => number;
  readonly nodes: SimulatedNode[];
  acknowledged = 0;
  restarts = 0;
  #names = 0;

  constructor(seed: number) {
    this.random = seededRandom(seed * 7919);
    const weather = seed % 4 === 0 ? CALM : ROUGH;
    const { servers, time, random } = this;
    this.nodes = ["x", "y", "z"].map(
      (name) => new SimulatedNode({ name, servers, time, random, weather, giveUpMs: GIVE_UP_MS }),
    );
  }

  draw(below: number): number {
    return Math.floor(this.random() * below);
  }

  async step(): Promise<void> {
    await this.time.wait(this.draw(6000));
    const node = this.nodes[this.draw(3)]!;
    if (!node.isUp) return;
    const [appId, deviceId] = [APPS[this.draw(2)]!, DEVICES[this.draw(3)]!];
    const kind = this.draw(8);
    if (kind === 0) await node.trim({ isCovered: () => true, isExpired: () => false });
    else if (kind === 1) await this.restart(node);
    else if (kind === 2)
      await node.post(appId, [
        { device_id: deviceId, timestamp: BASE_MS, latitude: 1, longitude: this.draw(9) },
      ]);
    else await this.edit(node, appId, deviceId);
  }

  async edit(node: SimulatedNode, appId: AppId, deviceId: DeviceId): Promise<void> {
    const name = this.draw(4) === 0 ? null : `name ${this.#names++}`;
    const edited = await node.editProfile(appId, deviceId, name === null ? null : profileOf({ name }));
    if (!edited.ok) return;
    this.acknowledged++;
    const { model, applied } = this.model(edited.value);
    expect(applied.get(edited.value)).toBe(`${appId} ${deviceId} ${name}`);
    if (node.isUp && node.wal.lastSequence === edited.value) expect(node.profiles()).toEqual(model);
  }

  async restart(node: SimulatedNode): Promise<void> {
    this.restarts++;
    if (this.draw(2) === 0) await node.kill();
    else await node.stop();
    await this.time.wait(this.draw(1000));
    for (;;) {
      try {
        return await node.start();
      } catch (error) {
        if ((error as { kind?: string }).kind !== "unreachable") throw error;
        await this.time.wait(50);
      }
    }
  }

  /** What a map has that takes every profile of the stream up to an entry. */
  model(upTo = Number.POSITIVE_INFINITY) {
    const reader = new MessageReader("wherehouse");
    const names = new Map<string, string>();
    const applied = new Map<number, string>();
    for (const { number, bytes } of this.servers.history) {
      for (const entry of reader.entries(number, bytes)) {
        if (entry.kind !== "device_profile" || entry.sequence > upTo) continue;
        const { appId, deviceId, profile, sequence } = entry;
        applied.set(sequence, `${appId} ${deviceId} ${profile?.name ?? null}`);
        if (profile === null) names.delete(`${appId} ${deviceId}`);
        else names.set(`${appId} ${deviceId}`, `${profile.name}`);
      }
    }
    return { model: [...names].map(([device, name]) => `${device} ${name}`).sort(), applied };
  }

  async run(): Promise<void> {
    for (const node of this.nodes) await node.start();
    await Promise.all(Array.from({ length: STEPS }, () => this.step()));
    await this.time.wait(GIVE_UP_MS);
    const { model } = this.model();
    for (const node of this.nodes) {
      if (!node.isUp) continue;
      await node.catchUp();
      expect(node.failures).toEqual([]);
      expect(node.profiles()).toEqual(model);
      await this.restart(node);
      await node.catchUp();
      expect(node.profiles()).toEqual(model);
      await node.stop();
    }
  }
}

test("three nodes that seal at different times have the profiles that the stream has", async () => {
  const rounds = randomRuns(150);
  let [acknowledged, restarts] = [0, 0];
  for (let seed = 1; seed <= rounds; seed++) {
    const round = new Round(seed);
    await round.time.until(round.run());
    acknowledged += round.acknowledged;
    restarts += round.restarts;
  }
  expect(acknowledged).toBeGreaterThan(8 * rounds);
  expect(restarts).toBeGreaterThan(3 * rounds);
});
