import type { AppId } from "../../../../src/model/ids.ts";
import type { ReferenceCorrections } from "../../../reference/corrections.ts";
import type { ReferenceRecords } from "../../../reference/records.ts";
import type { Report } from "../../../support/reports/batches.ts";
import { layStream, type SentPost } from "../../../support/stream/stream-model.ts";
import { recordKey } from "../check/model.ts";
import { observeApp } from "../check/observe.ts";
import type { SimulationEngine } from "../run/engine.ts";
import { RunFailure } from "../run/outcome.ts";
import { RUN_START_MS } from "../run/plan.ts";
import type { Planted } from "../run/service.ts";
import { type ClusterWorld, createClusterWorld } from "./cluster-world.ts";
import { type SentCorrection, SimulatedMember } from "./simulated-member.ts";

/** What happened in the life of a cluster. */
export interface ClusterTotals {
  acknowledged: number;
  refused: number;
  powerFailures: number;
  seals: number;
  failedSeals: number;
  corrections: number;
  undone: number;
  cutStarts: number;
  purged: number;
}

export interface ClusterRunOptions {
  readonly seed: number;
  /** One for each node: archives that are open at once share no DuckDB. */
  readonly engines: readonly SimulationEngine[];
  readonly planted?: Planted;
}

const APPS = ["app1", "app2"];
const DEVICES = ["bus1", "bus2"];
/** They, and one that shows only what is assigned to it. */
const SHOWN_DEVICES = [...DEVICES, "bus3"];
const USERS = ["u", "v"];
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const STEPS = 20;
/** A seal has about so many operations, and a start a few. */
const SEAL_OPERATIONS = 50;
const START_OPERATIONS = 20;
/** How long before the start late reports are from: each day takes a seal some statements of DuckDB. */
const OLD_DAYS = [9, 20];

/** Simulates a cluster from its seed; throws a `RunFailure` where a node breaks a promise. */
export async function simulateCluster({
  seed,
  engines,
  planted = {},
}: ClusterRunOptions): Promise<ClusterTotals> {
  const run = new ClusterRun(seed, createClusterWorld(seed, planted), engines);
  try {
    return await run.simulate();
  } finally {
    for (const { disk } of run.members) disk.close();
  }
}

class ClusterRun {
  readonly members: readonly SimulatedMember[];
  readonly #seed: number;
  readonly #world: ClusterWorld;
  readonly #posts: SentPost[] = [];
  readonly #corrections: SentCorrection[] = [];
  readonly #story: string[] = [];
  readonly #totals: ClusterTotals = {
    acknowledged: 0,
    refused: 0,
    powerFailures: 0,
    seals: 0,
    failedSeals: 0,
    corrections: 0,
    undone: 0,
    cutStarts: 0,
    purged: 0,
  };

  constructor(seed: number, world: ClusterWorld, engines: readonly SimulationEngine[]) {
    this.#seed = seed;
    this.#world = world;
    this.members = engines.map((engine, index) => new SimulatedMember(`node${index + 1}`, world, engine));
  }

  async simulate(): Promise<ClusterTotals> {
    for (const member of this.members) await this.#start(member, false);
    for (let step = 0; step < STEPS; step++) await this.#takeStep();
    for (const member of this.members) {
      await this.#end(member, "power");
      await this.#start(member, false);
    }
    await this.#compare();
    this.#world.clock.advance(9 * DAY_MS); // Past the days that stay in memory.
    for (const member of this.members) await this.#seal(member, 0, false);
    await this.#burst(5);
    this.#purge();
    for (const member of this.members) {
      await this.#end(member, "power");
      await this.#start(member, false);
    }
    await this.#compare();
    for (const member of this.members) await member.end("close");
    const taken = this.#posts.filter(({ answer }) => answer !== null).length;
    const corrections = this.#corrections.filter(({ made }) => made !== null).length;
    const undone = this.#corrections.filter(({ isUndone }) => isUndone).length;
    return {
      ...this.#totals,
      ...{ acknowledged: taken, refused: this.#posts.length - taken, corrections, undone },
    };
  }

  #tell(line: string): void {
    this.#story.push(line);
  }

  #fail(reason: string, cause?: unknown): never {
    throw new RunFailure(this.#seed, reason, this.#story, cause);
  }

  async #takeStep(): Promise<void> {
    const { draws, clock } = this.#world;
    const member = draws.pick(this.members);
    switch (draws.weighted({ burst: 6, correct: 8, fault: 2, clock: 3, seal: 5, restart: 3, purge: 3 })) {
      case "burst":
        return this.#burst(draws.between(3, 12));
      case "correct":
        return this.#correctAtOnce(draws.between(1, 4));
      case "fault":
        return this.#burstThroughFault();
      case "clock":
        return clock.advance(draws.pick([1, 24, 24 * 8]) * 60 * MINUTE_MS);
      case "seal":
        return this.#seal(member, draws.pick([0, 0.1, 0.5]), draws.chance(0.5));
      case "restart":
        await this.#end(member, draws.pick(["close", "kill", "power"] as const));
        await this.#burst(draws.between(0, 4));
        return this.#start(member, draws.chance(0.3));
      case "purge":
        return this.#purge();
    }
  }

  #drawReport(): Report {
    const { draws, clock } = this.#world;
    const nowMs = clock.nowMs();
    const old = RUN_START_MS - draws.pick(OLD_DAYS) * DAY_MS + draws.between(0, 2) * MINUTE_MS;
    const report: Record<string, unknown> = {
      device_id: draws.pick(DEVICES),
      timestamp: draws.chance(0.5) ? old : nowMs - (nowMs % DAY_MS) - draws.between(0, 3) * MINUTE_MS,
      latitude: draws.between(0, 2),
      longitude: draws.between(0, 1),
    };
    if (draws.chance(0.3)) report.speed = draws.between(0, 1);
    if (draws.chance(0.3)) report.user_id = draws.pick(USERS);
    if (draws.chance(0.3)) report.type = draws.pick(["MOVING", "STATIONARY"]);
    return report;
  }

  /** Sends one to any node that is up, some time from now. */
  async #post(): Promise<void> {
    const { draws, time } = this.#world;
    await time.wait(draws.between(0, 100));
    const up = this.members.filter(({ isUp }) => isUp);
    if (up.length === 0) return;
    const reports = Array.from({ length: draws.between(1, 5) }, () => this.#drawReport());
    const post: SentPost = { appId: draws.pick(APPS), reports, answer: null };
    this.#posts.push(post);
    await draws.pick(up).post(post);
  }

  async #burst(count: number, beside: Promise<unknown> = Promise.resolve()): Promise<void> {
    const posts = Array.from({ length: count }, () => this.#post());
    await this.#world.time.until(Promise.all([beside, ...posts]));
  }

  /** Several nodes hide, move, shift, assign and undo at once, while reports come. */
  async #correctAtOnce(count: number): Promise<void> {
    const corrections = Array.from({ length: count }, () => this.#correct());
    await this.#burst(this.#world.draws.between(0, 3), Promise.all(corrections));
  }

  async #correct(): Promise<void> {
    const { draws, time } = this.#world;
    await time.wait(draws.between(0, 100));
    const up = this.members.filter(({ isUp }) => isUp);
    if (up.length === 0) return;
    const active = this.#corrections.filter(({ made, isUndoing }) => made !== null && !isUndoing);
    if (active.length > 0 && draws.chance(0.4)) {
      const sent = draws.pick(active);
      sent.isUndoing = true;
      return draws.pick(up).undo(sent);
    }
    const [start, days] = [RUN_START_MS - draws.pick([0, 1, ...OLD_DAYS]) * DAY_MS, draws.pick([1, 30])];
    const range = draws.chance(0.3)
      ? { timestamps: [0, 1, 2].map((minutes) => start + minutes * MINUTE_MS) }
      : { start: start - MINUTE_MS * draws.between(0, 2), end: start + days * DAY_MS };
    const hides = { action: "hide", ...range };
    const moves = {
      ...{ action: "move", timestamps: [start + draws.between(0, 2) * MINUTE_MS] },
      ...{ latitude: draws.between(3, 5), longitude: draws.between(3, 5) },
      ...(draws.chance(0.3) ? { horizontal_accuracy: draws.between(1, 9) } : {}),
    };
    const shifts = { ...hides, action: "shift_time", by_ms: draws.pick([-MINUTE_MS, -1, 30_000]) };
    const user = draws.chance(0.3) ? { to_user_id: draws.pick(USERS) } : {};
    const assigns = { ...range, action: "assign", to_device_id: draws.pick(SHOWN_DEVICES), ...user };
    const merges = { action: "assign", to_device_id: draws.pick([...DEVICES, "bus3", "bus3"]), ...user };
    const change = draws.pick([hides, moves, shifts, assigns, merges]);
    const others = [...DEVICES, ...SHOWN_DEVICES].filter(
      (device) => !("to_device_id" in change) || device !== change.to_device_id,
    );
    const wanted = { device_id: draws.pick(others), ...change };
    const sent: SentCorrection = {
      ...{ appId: draws.pick(APPS), wanted, made: null },
      ...{ isUndoing: false, isUndone: false },
    };
    this.#corrections.push(sent);
    await draws.pick(up).correct(sent);
  }

  async #burstThroughFault(): Promise<void> {
    const { draws, time, servers } = this.#world;
    const up = this.members.filter(({ isUp }) => isUp);
    const fault = draws.pick(["leaderless", "full", "cut"] as const);
    const cut = draws.pick(up).stream;
    this.#tell(`the stream is ${fault} for a while`);
    const set = (isSo: boolean) => {
      if (fault === "leaderless") servers.setLeaderless(isSo);
      else if (fault === "full") servers.isFull = isSo;
      else cut.setCut(isSo);
    };
    const lasting = (async () => {
      set(true);
      await time.wait(draws.between(10, 40_000));
      set(false);
    })();
    await this.#burst(draws.between(2, 10), lasting);
  }

  /** Messages come before so many of its operations, and the power may fail before any of them. */
  async #seal(member: SimulatedMember, often: number, mayDie: boolean): Promise<void> {
    const { draws, time } = this.#world;
    const { disk, service } = member;
    const posts: Promise<void>[] = [];
    disk.watch(() => {
      if (draws.chance(often)) posts.push(this.#post());
      if (draws.chance(often)) time.step();
    });
    if (mayDie) this.#armPowerFailure(member, SEAL_OPERATIONS);
    try {
      const { records } = await service.directory.schedule.sealNow();
      this.#totals.seals++;
      this.#tell(`${member.name} seals ${records} records, and needs message ${member.toldFloor} on`);
    } catch (error) {
      if (!disk.isDead) this.#fail(`${member.name}: the seal failed: ${error}`, error);
      this.#totals.failedSeals++;
    }
    disk.watch(null);
    disk.disarm();
    await this.#burst(0, Promise.all(posts));
    if (!disk.isDead) return;
    await this.#end(member, "power");
    await this.#start(member, true);
  }

  #armPowerFailure({ disk }: SimulatedMember, withinOperations: number): void {
    const { draws } = this.#world;
    const survivors = draws.chance(0.7) ? draws.next : undefined;
    disk.arm({ kind: "power", afterOperations: draws.between(1, withinOperations), survivors });
  }

  async #end(member: SimulatedMember, how: "close" | "kill" | "power"): Promise<void> {
    this.#tell(`${member.name} ends: ${member.disk.isDead ? "its disk is dead" : how}`);
    if (how === "power") this.#totals.powerFailures++;
    await member.end(how);
    this.#expectNoFailure(member);
  }

  #expectNoFailure({ name, failures }: SimulatedMember): void {
    if (failures.length > 0) this.#fail(`${name} can't follow any further: ${failures[0]}`, failures[0]);
  }

  /** Again and again where that is cut off. */
  async #start(member: SimulatedMember, mayDie: boolean): Promise<void> {
    const { time } = this.#world;
    for (let isCalm = !mayDie; ; isCalm = true) {
      const starting = member.start();
      if (!isCalm) this.#armPowerFailure(member, START_OPERATIONS);
      try {
        await time.until(starting);
        member.disk.disarm();
        if (member.disk.isDead) {
          await this.#end(member, "power"); // It died while the start tidied up.
          continue;
        }
        return this.#tell(`${member.name} starts at message ${member.toldFloor}`);
      } catch (error) {
        if (!member.disk.isDead) this.#fail(`${member.name} does not start: ${error}`, error);
        this.#totals.cutStarts++;
        this.#tell(`the start of ${member.name} is cut off`);
      }
    }
  }

  /** As nodes do it: what nobody needs any more goes. */
  #purge(): void {
    const { servers } = this.#world;
    const before = servers.messages.length;
    servers.purgeBefore(Math.min(...this.members.map(({ toldFloor }) => toldFloor)));
    this.#totals.purged += before - servers.messages.length;
  }

  async #compare(): Promise<void> {
    const { time, servers } = this.#world;
    await time.until(time.wait(1000)); // What was given up may still be on its way.
    await time.until(Promise.all(this.members.map((member) => member.catchUp())));
    const { models, corrections, broken } = layStream(servers, APPS, this.#posts, false);
    if (broken !== null) this.#fail(broken);
    this.#expectAcknowledged(corrections);
    for (const member of this.members) {
      this.#expectNoFailure(member);
      member.disk.pause(true);
      for (const appId of APPS) {
        this.#compareCorrections(member, appId, corrections.get(appId)!);
        await this.#compareApp(member, models.get(appId)!);
      }
      member.disk.pause(false);
    }
  }

  #expectAcknowledged(corrections: ReadonlyMap<string, ReferenceCorrections>): void {
    for (const { appId, made, isUndoing, isUndone } of this.#corrections) {
      if (made === null) continue;
      const known = corrections
        .get(appId)!
        .list()
        .find(({ id }) => id === made.id);
      if (known?.records !== made.records)
        this.#fail(
          `correction ${made.id} has ${known?.records} records, and was answered with ${made.records}`,
        );
      if (isUndone ? known.state === "active" : !isUndoing && known.state === "undone")
        this.#fail(`correction ${made.id} is ${known.state}, and was answered otherwise`);
    }
  }

  #compareCorrections({ name, service }: SimulatedMember, appId: string, model: ReferenceCorrections): void {
    const held = service.hot.corrections.list(appId as AppId, null, null);
    const states = held.map(({ correction: { id, records }, isActive }) => ({
      ...{ id, state: isActive ? "active" : "undone", records },
    }));
    if (!Bun.deepEquals(states, model.list()))
      this.#fail(
        `${name}, ${appId}: corrections are ${JSON.stringify(states)}, not ${JSON.stringify(model.list())}`,
      );
  }

  async #compareApp({ name, service }: SimulatedMember, model: ReferenceRecords): Promise<void> {
    const { clock, retention } = this.#world;
    const range = { startMs: retention.startMs(clock.nowMs()), endMs: clock.nowMs() + DAY_MS };
    const asked = {
      appId: model.appId,
      users: USERS,
      devices: SHOWN_DEVICES,
      historyUser: null,
      range,
      asksNewest: true,
    };
    const observed = await observeApp(service, asked).catch((error: unknown) => {
      return this.#fail(`${name}, ${model.appId}: ${error}`, error);
    });
    const expected = new Map(
      model.records().map((record) => [recordKey(record.device_id, record.timestamp), record]),
    );
    for (const key of new Set([...expected.keys(), ...observed.whole.keys()])) {
      const [is, must] = [observed.whole.get(key), expected.get(key)];
      if (!Bun.deepEquals(is, must))
        this.#fail(`${name}, ${model.appId}: ${key} is ${JSON.stringify(is)}, not ${JSON.stringify(must)}`);
    }
    for (const record of model.newest()) {
      const newest = observed.newest.get(record.device_id);
      if (!Bun.deepEquals(newest, record))
        this.#fail(
          `${name}, ${model.appId}: the newest is ${JSON.stringify(newest)}, not ${JSON.stringify(record)}`,
        );
    }
  }
}
