import { messageNumberOf } from "../../../src/cluster/log/group-message.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import {
  changedBy,
  createReferenceCorrections,
  type PlannedCorrection,
  type WantedCorrection,
} from "../../reference/corrections.ts";
import type { PlannedErasure, WantedErasure } from "../../reference/erasures.ts";
import { pathOfQuery } from "../../reference/query.ts";
import type { ReferenceReport } from "../../reference/records.ts";
import { drawFault } from "../../unit/simulation/disk/faults.ts";
import { createDraws, type Draws } from "../../unit/simulation/run/draws.ts";
import type { SimulationEngine } from "../../unit/simulation/run/engine.ts";
import { BASE_MS } from "../reports/arbitrary-reports.ts";
import { APP_ID } from "../test-app.ts";
import { expectSame } from "./agreement.ts";
import { LifeCluster, type LifeNode } from "./life-cluster.ts";
import { LifeService } from "./life-service.ts";
import type { ArbitraryLife, DrawnFault, Ending, LifeStep } from "./life-steps.ts";
import { EXPORT_PATHS, KEPT_MS, KEPT_PATHS } from "./questions.ts";

const HOUR_MS = 3_600_000;
/** A week after the reports' midnight: the day before it is due to be sealed, the day after it is not. */
const AT_WINDOW_EDGE_MS = BASE_MS + 7 * 24 * HOUR_MS + 12 * HOUR_MS;
/** How many questions of each list follow a step, and the last. */
const QUESTIONS_A_STEP = 2;
const LAST_QUESTIONS = 6;
/** Before how many steps the stream is purged. */
const PURGE_SHARE = 0.5;
/** Every day that was reported is archived by then. */
const PAST_WINDOW_MS = 40 * 24 * HOUR_MS;
/** How many lives end with questions that take as long as all others together. */
const SLOW_SHARE = 0.25;
const CORRECTION_IDS = /\b[0-9A-HJKMNP-TV-Z]{26}\b/g;

/** What lives together had, so that a test sees that it tested something. */
export interface LifeTotals {
  lives: number;
  steps: number;
  corrections: number;
  undone: number;
  erasures: number;
  /** Times after which files were searched for what was erased. */
  finished: number;
  seals: number;
  restarts: number;
  /** Requests that a fault of the disk cut off, and that were sent again. */
  repeated: number;
  questions: number;
}

export function createLifeTotals(): LifeTotals {
  const steps = { steps: 0, corrections: 0, undone: 0, erasures: 0, finished: 0 };
  return { lives: 0, ...steps, seals: 0, restarts: 0, repeated: 0, questions: 0 };
}

/**
 * One service over a simulated disk from its first report to the end, or the nodes of a cluster, and the model of what
 * it must answer. A request that a fault cuts off is sent again after a restart, as clients do, so the model always
 * knows what counts. Each step is one node's; once the others have its entries, they answer as it does.
 */
class Life {
  readonly #clock = createManualClock(AT_WINDOW_EDGE_MS);
  readonly #model = createReferenceCorrections(APP_ID);
  /** Whether an erasure failed that is sent again: it may have taken effect. */
  #mayBeErased = false;
  /** The message of the stream that has it. */
  #lastErasure = 0;
  readonly #totals: LifeTotals;
  readonly #draws: Draws;
  readonly #engines: readonly SimulationEngine[];
  /** Null for a single process. */
  readonly #cluster: LifeCluster | null;
  readonly #nodes: readonly (LifeNode | null)[];
  readonly #services: readonly LifeService[];
  /** The one that takes the step. */
  #service: LifeService;
  #keys = 0;
  /** Why files could not be rewritten. */
  #obstacle = "";

  constructor(seed: number, engines: readonly SimulationEngine[], totals: LifeTotals) {
    this.#draws = createDraws(seed);
    this.#engines = engines;
    this.#totals = totals;
    this.#cluster = engines.length > 1 ? new LifeCluster(this.#draws) : null;
    this.#nodes = engines.map(() => this.#cluster?.createNode() ?? null);
    this.#services = engines.map((engine, index) => {
      const node = this.#nodes[index]!;
      return new LifeService({ engine, node, clock: this.#clock, model: this.#model, draws: this.#draws });
    });
    this.#service = this.#services[0]!;
  }

  get #app() {
    return this.#service.app;
  }

  get #node(): LifeNode | null {
    return this.#nodes[this.#services.indexOf(this.#service)]!;
  }

  async live(first: readonly ReferenceReport[], steps: readonly LifeStep[]): Promise<void> {
    this.#totals.lives++;
    try {
      for (const service of this.#services) await service.open();
      await this.#report(first);
      await this.#catchUp();
      for (const step of steps) {
        this.#totals.steps++;
        await this.#choose(step.node ?? null);
        await this.#perform(this.#cluster === null ? step : withoutFaults(step));
        await this.#agree(QUESTIONS_A_STEP, []);
      }
      await this.#startAll();
      this.#clock.advance(KEPT_MS);
      const isSlow = this.#draws.chance(SLOW_SHARE);
      const slow = isSlow ? [...KEPT_PATHS, this.#draws.pick(EXPORT_PATHS)] : [];
      await this.#agree(LAST_QUESTIONS, slow);
      if (this.#cluster !== null) await this.#archiveAll(this.#cluster);
    } finally {
      for (const service of this.#services) await service.dispose();
    }
  }

  /** Draws the node of the next step, unless it is given; it starts if it is not up. */
  async #choose(node: number | null): Promise<void> {
    if (this.#cluster === null) return;
    if (this.#draws.chance(PURGE_SHARE)) this.#cluster.purge();
    this.#service = node === null ? this.#draws.pick(this.#services) : this.#services[node]!;
    if (!this.#service.isUp) await this.#start(this.#service);
  }

  async #start(service: LifeService): Promise<void> {
    await service.open();
    await this.#catchUp();
  }

  async #startAll(): Promise<void> {
    for (const service of this.#services) if (!service.isUp) await this.#start(service);
  }

  async #catchUp(): Promise<void> {
    for (const [index, service] of this.#services.entries())
      if (service.isUp) await this.#nodes[index]?.catchUp(service.app);
  }

  async #agree(questions: number, others: readonly string[]): Promise<void> {
    await this.#catchUp();
    for (const [index, service] of this.#services.entries()) {
      if (!service.isUp) continue;
      this.#totals.questions += 2 * questions + others.length;
      try {
        await service.agreement.expect(service.app, questions, others);
      } catch (error) {
        throw new Error(`service ${index + 1}: ${error}`, { cause: error });
      }
    }
  }

  /** Once all days are archived on all nodes, the stream has nothing more of what is erased. */
  async #archiveAll(cluster: LifeCluster): Promise<void> {
    this.#clock.advance(PAST_WINDOW_MS);
    for (const service of this.#services) {
      this.#service = service;
      if (!(await this.#finish())) throw new Error(`an erasure is not finished ${this.#obstacle}`);
      await this.#seal(false);
    }
    cluster.purge();
    const left = cluster.servers.messages.filter(({ number }) => number <= this.#lastErasure);
    expectSame(left.length, 0, "the messages of the stream up to the last erasure");
    await this.#agree(LAST_QUESTIONS, []);
  }

  async #end(how: Ending): Promise<void> {
    this.#totals.restarts++;
    if (this.#cluster !== null && how === "backup") await this.#replaceNode();
    else await this.#service.end(how);
  }

  /** A new node takes its place, and begins with what another one has. */
  async #replaceNode(): Promise<void> {
    const index = this.#services.indexOf(this.#service);
    const peers = this.#services.filter((service) => service !== this.#service && service.isUp);
    if (peers.length === 0) return this.#service.end("close");
    const peer = this.#draws.pick(peers);
    const from = this.#nodes[this.#services.indexOf(peer)]!;
    await this.#service.end("kill");
    const node = this.#nodes[index]!;
    this.#service.replaceDisk(await node.joinedDisk(from, peer.files, peer.disk, this.#engines[index]!));
  }

  async #perform(step: LifeStep): Promise<void> {
    switch (step.does) {
      case "report":
        return this.#throughFaults(step, () => this.#report(step.reports));
      case "correct": {
        const planned = this.#model.plan(step.wanted, this.#clock.nowMs());
        await this.#expectPreview(planned);
        const key = `key-${this.#keys++}`;
        return this.#throughFaults(step, () => this.#correct(planned, key));
      }
      case "race":
        return this.#throughFaults({ ...step, fault: null }, () => this.#race(step.reports, step.wanted));
      case "undo": {
        const active = this.#model.list().filter(({ state }) => state === "active");
        const chosen = active[step.index % Math.max(1, active.length)];
        if (chosen === undefined) return;
        return this.#throughFaults(step, () => this.#undo(chosen.id));
      }
      case "erase": {
        const planned = this.#model.planErasure(step.wanted);
        return this.#throughFaults(step, () => this.#erase(planned));
      }
      case "eraseBoth":
        return this.#eraseBoth(step.wanted);
      case "finish":
        return this.#throughFaults({ ...step, sealsMeanwhile: false }, () => this.#finish());
      case "seal":
        return this.#throughFaults({ ...step, sealsMeanwhile: true }, async () => true);
      case "restart":
        await this.#end(step.how);
        if (this.#cluster === null || !step.staysAway) await this.#start(this.#service);
        return;
      case "wait":
        return this.#clock.advance(step.hours * HOUR_MS);
    }
  }

  /** Sends a request until it is answered; false from it means that the service could not answer it. */
  async #throughFaults(
    { fault, sealsMeanwhile }: { readonly fault: DrawnFault | null; readonly sealsMeanwhile: boolean },
    request: () => Promise<boolean>,
  ): Promise<void> {
    if (fault !== null) {
      const { seed, withinOperations } = fault;
      this.#service.disk.arm(drawFault(createDraws(seed), withinOperations, sealsMeanwhile ? "seal" : "any"));
    }
    const sealing = sealsMeanwhile ? this.#seal(fault !== null) : Promise.resolve();
    const isDone = await request();
    await sealing;
    this.#service.disk.disarm();
    // A part that could not be read once is refused for a while; a start reads it at once.
    const isDamaged = this.#service.app.directory.archive.damaged.size > 0;
    if (isDone && !isDamaged && !this.#service.disk.isDead) return;
    if (fault === null) throw new Error(`a request failed without any fault of the disk ${this.#obstacle}`);
    await this.#end("close");
    await this.#start(this.#service);
    if (isDone) return;
    this.#totals.repeated++;
    if (!(await request()))
      throw new Error(`a request that is sent again after a restart fails ${this.#obstacle}`);
  }

  async #seal(mayFail: boolean): Promise<void> {
    try {
      await this.#app.seal();
      this.#totals.seals++;
    } catch (error) {
      if (!mayFail) throw error;
    }
  }

  async #report(reports: readonly ReferenceReport[]): Promise<boolean> {
    const { status, body } = await this.#app.post(reports);
    if (status >= 500) return false;
    expectSame([status, body.rejected], [200, []], "the answer to reports");
    this.#model.report(reports);
    return true;
  }

  async #correct(planned: PlannedCorrection, key: string): Promise<boolean> {
    const { status, body } = await this.#send("POST", "/api/v1/corrections", planned.wanted, key);
    if (status >= 500) return false;
    expectSame(status, planned.status, "the status of a correction");
    if (status !== 200) return true;
    const { id, ...made } = body.correction as { id: string } & Record<string, unknown>;
    const times = planned.records.map(({ timestamp }) => timestamp);
    expectSame(
      [made.records, made.first, made.last, made.state],
      [times.length, times[0], times.at(-1), "active"],
      "a correction",
    );
    this.#model.make(id, planned);
    this.#totals.corrections++;
    return true;
  }

  /** Which of the reported records a correction hides that is made at the same time, only the service knows. */
  async #race(reports: readonly ReferenceReport[], wanted: WantedCorrection): Promise<boolean> {
    const before = this.#model.plan(wanted, this.#clock.nowMs());
    const [{ status, body }] = await Promise.all([
      this.#send("POST", "/api/v1/corrections", wanted),
      this.#report(reports),
    ]);
    const after = this.#model.plan(wanted, this.#clock.nowMs());
    const [early, late] = [before, after].map(
      (plan) => new Set(plan.records.map((record) => record.timestamp)),
    );
    // Each record is read as it is before the reports or after them: of some days earlier than of others.
    const selected = early!.intersection(late!);
    if (status !== 200) {
      const isNoneLeft = status === 400 && selected.size === 0;
      if (status !== before.status && !isNoneLeft)
        expectSame(status, after.status, "the status of a correction");
      return true;
    }
    const { id, records } = body.correction as { id: string; records: number };
    const shown = await this.#timesOf(wanted.device_id);
    const touched = this.#model
      .shown()
      .recordsOf(wanted.device_id)
      .filter(({ timestamp }) => !shown.has(timestamp));
    expectSame(touched.length, records, "the records of a correction");
    for (const { timestamp } of touched) {
      if (!early!.has(timestamp) && !late!.has(timestamp))
        throw new Error(`a correction touches ${timestamp}, which it does not select`);
      selected.delete(timestamp);
    }
    expectSame([...selected], [], "what a correction selects and does not touch");
    this.#model.make(id, { wanted, records: touched });
    this.#totals.corrections++;
    return true;
  }

  async #timesOf(device: string): Promise<ReadonlySet<number>> {
    const parameters = { start_date: "2026-01-13", end_date: "2026-01-16", limit: 1000 };
    const { body } = await this.#app.get(pathOfQuery({ endpoint: "deviceHistory", device, parameters }));
    return new Set(body.locations.map(({ timestamp }) => Number(timestamp)));
  }

  async #expectPreview({ wanted, dryStatus, records }: PlannedCorrection): Promise<void> {
    const preview = await this.#send("POST", "/api/v1/corrections?dry_run=true", wanted);
    if (dryStatus !== 200) return expectSame(preview.status, dryStatus, "the status of a dry run");
    const { correction, sample } = preview.body as unknown as {
      correction: { records: number };
      sample: { before: object; after: object | null }[];
    };
    expectSame([preview.status, correction.records], [200, records.length], "a dry run");
    const changes = records.map((record) => {
      const after = changedBy(wanted, record);
      const withNames = wanted.action === "assign";
      return [sampleOf(record, withNames), after === null ? "nothing" : sampleOf(after, withNames)];
    });
    expectSame(
      sample.map(({ before, after }) => [before, after ?? "nothing"]),
      changes,
      "the sample of a dry run",
    );
  }

  async #undo(id: string): Promise<boolean> {
    const { status, body } = await this.#send("DELETE", `/api/v1/corrections/${id}`);
    if (status >= 500) return false;
    const later = this.#model.laterThan(id);
    if (later.length > 0) {
      expectSame(status, 409, "the status of an undoing before that of a later correction");
      expectSame(String(body.message).split(": ")[1], later.join(", "), "the corrections to undo first");
      return true;
    }
    expectSame([status, (body.correction as { state: string }).state], [200, "undone"], "an undoing");
    this.#model.undo(id);
    this.#totals.undone++;
    return true;
  }

  async #erase(planned: PlannedErasure): Promise<boolean> {
    const { wanted, inTheWay, mayBeInTheWay } = planned;
    const dry = await this.#send("POST", "/api/v1/erasures?dry_run=true", wanted);
    if (dry.status >= 500) return false;
    const { status, body } = await this.#send("POST", "/api/v1/erasures", wanted);
    if (status >= 500) {
      this.#mayBeErased = true;
      return false;
    }
    const isFirst = !this.#mayBeErased;
    this.#mayBeErased = false;
    if (status === 409) {
      const ids = new Set(String(body.message).match(CORRECTION_IDS));
      if (ids.isSubsetOf(mayBeInTheWay) && ids.isSupersetOf(inTheWay)) return true;
      throw new Error(`${body.message}; in the way are: ${[...inTheWay].join(", ")}`);
    }
    expectSame([status, [...inTheWay]], [200, []], "the status of an erasure, and what is in its way");
    const { corrections } = body.erasure as { corrections: number };
    const { devices, going } = planned;
    if (isFirst && dry.status === 200) {
      const { records } = dry.body.erasure as { records: number };
      expectSame(records, planned.records, "the records of an erasure");
    }
    if (isFirst && devices !== null)
      expectSame(corrections, going.size, "the corrections that go with an erasure");
    await this.#noteErasure(planned, Number(body.sequence));
    return true;
  }

  async #noteErasure(planned: PlannedErasure, sequence: number): Promise<void> {
    const { body } = await this.#app.get("/api/v1/corrections?limit=1000");
    this.#model.erase(planned, new Set((body.corrections as { id: string }[]).map(({ id }) => id)));
    this.#lastErasure = Math.max(this.#lastErasure, messageNumberOf(sequence));
    for (const { erasedFiles } of this.#services) erasedFiles.note({ ...planned, sequence });
    this.#totals.erasures++;
  }

  /** In either order they leave the same. */
  async #eraseBoth(both: readonly [WantedErasure, WantedErasure]): Promise<void> {
    if (both.some((wanted) => this.#model.planErasure(wanted).mayBeInTheWay.size > 0)) return;
    const up = this.#services.filter(({ isUp }) => isUp);
    const other = up.find((service) => service !== this.#service) ?? this.#service;
    const [first, second] = await Promise.all([
      this.#send("POST", "/api/v1/erasures", both[0]),
      this.#send("POST", "/api/v1/erasures", both[1], undefined, other),
    ]);
    expectSame([first.status, second.status], [200, 200], "the status of two erasures at once");
    await this.#catchUp();
    for (const [index, { body }] of [first, second].entries())
      await this.#noteErasure(this.#model.planErasure(both[index]!), Number(body.sequence));
  }

  async #finish(): Promise<boolean> {
    const options = { dropsDamaged: false, onDaysLeft: () => undefined };
    const finishing = this.#app.directory.eraser.finishNow(options).catch(String);
    const obstacle = await (this.#node?.until(finishing) ?? finishing);
    if (obstacle !== null) {
      this.#obstacle = obstacle;
      return false;
    }
    this.#service.disk.disarm();
    const { erasedFiles, files } = this.#service;
    await erasedFiles.search(files, this.#app.directory.archive.manifest);
    this.#totals.finished++;
    return true;
  }

  async #send(
    method: string,
    path: string,
    body?: WantedCorrection | WantedErasure,
    key?: string,
    { app } = this.#service,
  ) {
    const { full, eraser } = app.keys;
    const response = await app.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${path.startsWith("/api/v1/erasures") ? eraser : full}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }
}

/** Lives one life, of as many nodes as there are engines; throws at the first answer that is not the model's. */
export function live(
  { seed, first, steps }: ArbitraryLife,
  engines: readonly SimulationEngine[],
  totals: LifeTotals,
): Promise<void> {
  return new Life(seed, engines, totals).live(first, steps);
}

/** On a node of a cluster, only seals depend on the disk, so other steps have no fault. */
function withoutFaults(step: LifeStep): LifeStep {
  return "sealsMeanwhile" in step && step.does !== "race" ? { ...step, fault: null } : step;
}

/** A record as the sample of a dry run shows it. */
function sampleOf(report: ReferenceReport, withNames: boolean): object {
  const { device_id, user_id, timestamp, latitude, longitude, horizontal_accuracy } = report;
  return {
    ...(withNames ? { device_id, user_id } : {}),
    ...{ timestamp, latitude, longitude },
    ...(horizontal_accuracy === undefined ? {} : { horizontal_accuracy }),
  };
}
