import { lostName } from "../../../src/archive/paths.ts";
import { assert } from "../../../src/lib/assert.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { readAcknowledged, writeAcknowledged } from "../../../src/service/verify-acknowledged.ts";
import { createManualClock } from "../../../src/time/clock.ts";
import { batchOf } from "../../support/batches.ts";
import { findMismatch } from "./compare.ts";
import { createLifeDamage } from "./damage.ts";
import { createLifeDisk } from "./disk.ts";
import { createDraws } from "./draws.ts";
import type { LifeEngine } from "./engine.ts";
import { drawFault, faultText, hindersReading, mayRefuseStart } from "./faults.ts";
import { flipByte, heldByPart, MANIFEST } from "./flips.ts";
import { findMissingPart, findStrayPart, findTrimmedReport } from "./invariants.ts";
import { findFrames } from "./log-frames.ts";
import { createLifeModel, possibleValues, type SentBatch } from "./model.ts";
import { type ObservedApp, observeApp } from "./observe.ts";
import { LifeFailure, type LifeTotals, noTotals } from "./outcome.ts";
import { drawClockTurnMs, drawStep, LIFE_START_MS, type LifeKind, planLife, type Step } from "./plan.ts";
import { BATCH_MARK, createReportSource } from "./reports.ts";
import {
  ARCHIVE_DIRECTORY,
  closeService,
  DAMAGED_DIRECTORY,
  type LifeService,
  openService,
  type Planted,
} from "./service.ts";

export interface LifeOptions {
  readonly seed: number;
  readonly engine: LifeEngine;
  readonly kind?: LifeKind;
  readonly planted?: Planted;
  /** Flipped frames of the log check out again, which only the model can notice. */
  readonly forgesChecksums?: boolean;
}

export interface LivedLife {
  readonly totals: LifeTotals;
  /** Of all operations of its disk: one seed, one digest. */
  readonly digest: number;
  readonly story: readonly string[];
}

const FINAL_FAULT_OPERATIONS = 60;
const START_FAULT_OPERATIONS = 25;
/** From this start on, of those for one restart, nothing goes wrong any more. */
const CALM_START = 4;

/** Lives a life from its seed; throws a `LifeFailure` where the service breaks a promise. */
export async function live(options: LifeOptions): Promise<LivedLife> {
  const { seed, engine, kind = "any", planted = {}, forgesChecksums = false } = options;
  const draws = createDraws(seed);
  const plan = planLife(seed, kind, draws);
  const source = createReportSource(plan, draws);
  const clock = createManualClock(LIFE_START_MS);
  const disk = createLifeDisk(engine);
  const model = createLifeModel();
  const damage = createLifeDamage(model);
  const totals = noTotals();
  const story: string[] = [];
  let service: LifeService | null = null;
  /** Batches on their way. */
  let pending: Promise<void>[] = [];
  let sequenceMax = 0;
  /** Open batches that the service shows, while it may lose them yet. */
  let shown: readonly SentBatch[] = [];
  /** Whether anything ever left bytes in the log that nobody vouches for. */
  let hadOpen = false;
  /** Whether a seal ever came to its swap. */
  let hadManifest = false;
  let isEnding = false;

  function tell(line: string): void {
    story.push(`${new Date(clock.nowMs()).toISOString().slice(0, 16)}  ${line}`);
  }

  function failed(reason: string): never {
    throw new LifeFailure(seed, reason, story);
  }

  function opened(): LifeService {
    assert(service !== null, "the service is open");
    return service;
  }

  /* Reports */

  function send(): Promise<void> {
    const { directory } = opened();
    const appId = draws.pick(plan.apps);
    const batch: SentBatch = { appId, reports: source.draw(appId, clock.nowMs()), sequence: null };
    const { lastSequence, state } = directory.log;
    totals.batches++;
    return directory.ingest(appId as AppId, batchOf(batch.reports)).then((outcome) => {
      if (!outcome.ok) {
        totals.refused++;
        const message = outcome.error.kind === "unavailable" ? outcome.error.message : outcome.error.kind;
        tell(`${nameOf(batch)} is refused: ${message}`);
        if (!message.startsWith("the log failed") || state === "failed") return;
        hadOpen = true;
        model.leaveOpen(batch);
        return;
      }
      const { accepted, duplicates, sequence } = outcome.value;
      if (accepted + duplicates !== batch.reports.length)
        failed(`${nameOf(batch)}: ${accepted} accepted, ${duplicates} duplicates`);
      totals.acknowledged += batch.reports.length;
      if (sequence === lastSequence) return takeRepeat(batch);
      tell(`${nameOf(batch)} is taken as entry ${sequence}`);
      if (sequence <= sequenceMax) failed(`entry ${sequence} after entry ${sequenceMax}`);
      sequenceMax = sequence;
      batch.sequence = sequence;
      model.take(batch);
    });
  }

  /** What is answered as known already must be there, and be what was sent. */
  function takeRepeat(batch: SentBatch): void {
    tell(`${nameOf(batch)} is known already`);
    const ofApp = shown.filter(({ appId }) => appId === batch.appId);
    settle(ofApp, []);
    const histories = [...model.histories(batch.appId, [])];
    for (const report of batch.reports) {
      const record = histories.find(
        (each) => each.deviceId === report.device_id && each.timestampMs === report.timestamp,
      );
      const values = record === undefined ? [] : possibleValues(record, (each) => each.isOptional);
      const repeats = values.some(
        (value) => value !== null && Bun.deepEquals({ ...value, ...report }, value),
      );
      if (!repeats) failed(`${nameOf(batch)} was called known, and ${JSON.stringify(report)} is not`);
    }
  }

  function settle(found: readonly SentBatch[], gone: readonly SentBatch[]): void {
    if (found.length > 0) {
      const frames = findFrames(disk.contents());
      for (const batch of found) {
        const frame = frames.find(
          ({ appId, mark, sequence }) =>
            appId === batch.appId && mark === markOf(batch) && sequence > sequenceMax,
        );
        if (frame === undefined) continue;
        batch.sequence = frame.sequence;
        sequenceMax = frame.sequence;
      }
    }
    model.settle(found, gone);
    shown = shown.filter((batch) => model.open.includes(batch));
  }

  /* Starts and ends */

  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const mirrored = disk.boot();
      totals.starts++;
      if (attempt < CALM_START && draws.chance(plan.faultChance)) arm(START_FAULT_OPERATIONS);
      if (attempt >= CALM_START) disk.unreadable.clear();
      const isWell = await tryStart(mirrored);
      totals.faults += disk.fired.length;
      if (isWell) break;
    }
    const { recovery } = opened().directory;
    tell(
      `started: ${recovery.entries} entries, ${recovery.damage.length} damaged places${recovery.tornTail === null ? "" : ", a torn end"}`,
    );
    const contents = disk.contents();
    await noteStart(contents);
    const isBlameless = !damage.hasFlips && !hadOpen && !wasHindered();
    if (isBlameless && recovery.damage.length > 0)
      failed(`damage where nothing was damaged: ${JSON.stringify(recovery.damage)}`);
    const isArchiveBlameless = !damage.hasFlips && !wasHindered() && hadManifest;
    if (isArchiveBlameless && opened().notes.length > 0)
      failed(`the archive says: ${opened().notes.join(" ")}`);
  }

  async function noteStart(contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
    damage.noteStart(opened(), contents);
    for (const note of opened().notes) {
      const file = /^archive\/(\S+) can't be read: the new manifest/.exec(note)?.[1];
      if (file === undefined) continue;
      const bytes =
        contents.get(`${DAMAGED_DIRECTORY}/${lostName(file)}`) ??
        contents.get(`${ARCHIVE_DIRECTORY}/${file}`);
      damage.noteLeftOut(await engine.recordsOf(bytes!).catch(() => []));
    }
    expectNone(damage.findUnnamed(opened(), contents));
  }

  async function tryStart(mirrored: ReturnType<typeof disk.boot>): Promise<boolean> {
    try {
      const { segmentBytesMax } = plan;
      service = await openService({ disk: mirrored, clock, engine, segmentBytesMax, planted });
    } catch (error) {
      if (disk.isDead) tell("the start is cut off");
      else if (disk.fired.some(mayRefuseStart)) tell(`the start is refused: ${error}`);
      else throw new LifeFailure(seed, `the start was refused: ${error}`, story, error);
      countEnd();
      return false;
    }
    await service.directory.inspect().catch(() => undefined); // It only tells more.
    if (!disk.isDead) return true;
    tell("the start is cut off");
    countEnd();
    await closeService(service);
    return false;
  }

  /** Whether files may seem damaged since this start that are not. */
  function wasHindered(): boolean {
    return disk.unreadable.size > 0 || disk.fired.some(hindersReading);
  }

  function countEnd(): void {
    if (disk.fired.some(({ kind }) => kind === "power")) totals.powerFailures++;
    if (disk.fired.some(({ kind }) => kind === "kill")) totals.kills++;
  }

  function arm(withinOperations: number): void {
    const fault = drawFault(draws, withinOperations);
    if (damage.hasFlippedPart(disk.contents()) && hindersReading(fault)) return; // See `isBeyondTelling`.
    tell(`fault: ${faultText(fault)}`);
    disk.arm(fault);
  }

  async function end(): Promise<void> {
    if (disk.isDead) {
      tell("the machine or the process died");
    } else {
      const how = draws.weighted({ close: 3, kill: 2, power: 3 });
      tell({ close: "closed", kill: "killed", power: "the power fails" }[how]);
      if (how === "power") totals.powerFailures++;
      if (how === "kill") totals.kills++;
      if (how !== "close") disk.die(how, draws.chance(0.7) ? () => draws.next() : undefined);
    }
    countEnd();
    totals.faults += disk.fired.length;
    await closeService(opened());
    await settlePending();
    service = null;
  }

  async function settlePending(): Promise<void> {
    while (pending.length > 0) {
      const waiting = pending;
      pending = []; // Operations of these may begin others.
      await Promise.all(waiting);
    }
  }

  async function restart(): Promise<void> {
    await end();
    disk.unreadable.clear();
    if (draws.chance(plan.flipChance)) await flip();
    if (draws.chance(plan.flipChance / 3)) hideFile();
    await start();
    await check(opened().directory.log.state !== "failed");
  }

  async function flip(): Promise<void> {
    const flipped = await flipByte({ disk, engine, draws, flipped: damage.flipped, forgesChecksums });
    if (flipped === null) return;
    totals.flips++;
    const { path, offset } = flipped;
    const sequence =
      flipped.kind === "log" && flipped.frame !== null ? `, in entry ${flipped.frame.sequence}` : "";
    tell(`a byte flips: ${offset} of ${path}${sequence}`);
    if (!(forgesChecksums && flipped.kind === "log")) damage.noteFlip(flipped);
  }

  function hideFile(): void {
    const paths = [...disk.contents().keys()].filter(
      (path) => path.endsWith(".wal") || path.startsWith(`${ARCHIVE_DIRECTORY}/`),
    );
    if (paths.length === 0) return;
    const path = draws.pick(paths);
    if (path === MANIFEST && damage.hasFlippedPart(disk.contents())) return; // See `isBeyondTelling`.
    tell(`can't be read until the next restart: ${path}`);
    disk.unreadable.add(path);
  }

  /* Checks */

  /** Compares all that the service answers with the model; `settles` where open batches are now there for good or gone. */
  async function check(settles: boolean): Promise<void> {
    if (disk.isDead) return;
    disk.pause(true);
    totals.checks++;
    const visible: SentBatch[] = [];
    for (const appId of plan.apps) {
      const observed = await observe(appId);
      visible.push(...matchOpen(appId, observed));
      const wrong = damage.findWrongDays(opened(), appId, observed, {
        nowMs: clock.nowMs(),
        mayFailReading: wasHindered(),
        contents: disk.contents(),
      });
      if (wrong !== null) failed(`${appId}: ${wrong}`);
    }
    disk.pause(false);
    shown = visible;
    if (settles) {
      settle(
        visible,
        model.open.filter((batch) => !visible.includes(batch)),
      );
    }
  }

  async function observe(appId: string): Promise<ObservedApp> {
    const all = [...plan.devices, ...plan.silentDevices];
    const isThorough = !plan.hasSeals || isEnding; // Each question to the archive takes milliseconds.
    const asked = {
      appId,
      users: plan.users,
      devices: isThorough ? all : [],
      historyUser: isThorough ? plan.users[0]! : null,
      nowMs: clock.nowMs(),
    };
    try {
      return await observeApp(opened(), asked);
    } catch (error) {
      throw new LifeFailure(seed, `${appId}: ${error}`, story, error);
    }
  }

  /** Which of the open batches the answers show: whatever it is, each as a whole. */
  function matchOpen(appId: string, observed: ObservedApp): readonly SentBatch[] {
    const open = model.open.filter((batch) => batch.appId === appId);
    let mismatch: string | null = null;
    for (const shownOnes of guesses(open)) {
      mismatch = findMismatch(
        {
          histories: model.histories(appId, shownOnes),
          nowMs: clock.nowMs(),
          isLoose: (record, each) => damage.isLoose(opened(), record, each),
          mayLackNewest: opened().notes.some((note) => note.startsWith("The newest positions of")),
        },
        observed,
      );
      if (mismatch === null) return shownOnes;
    }
    return failed(
      `${appId}: ${mismatch}${open.length > 0 ? `\n  whichever of ${open.map(nameOf).join("; ")} is there` : ""}`,
    );
  }

  /** Every choice of open batches, that of the log's frames first: where answers can't tell, it counts. */
  function* guesses(open: readonly SentBatch[]): Generator<readonly SentBatch[]> {
    if (open.length > 0) {
      const frames = findFrames(disk.contents());
      yield open.filter((batch) =>
        frames.some(
          ({ appId, mark, sequence }) =>
            appId === batch.appId && mark === markOf(batch) && sequence > sequenceMax,
        ),
      );
    }
    for (let mask = 0; mask < 2 ** open.length; mask++) yield open.filter((_, i) => ((mask >> i) & 1) === 1);
  }

  /* Steps */

  async function seal(): Promise<void> {
    const { directory } = opened();
    const nowMs = clock.nowMs();
    const sealing = directory.schedule.sealNow().then(
      ({ days, records, expired, deleted, blocked, logBytes }) => {
        totals.seals++;
        tell(
          `sealed ${records} records of ${days.join(", ") || "no day"}; expired ${expired.length}, deleted ${deleted.length}, blocked ${blocked.length}, ${logBytes} bytes off the log`,
        );
        return true;
      },
      (error) => {
        totals.failedSeals++;
        tell(`the seal fails: ${error}`);
        if (disk.fired.length === 0 && disk.unreadable.size === 0) failed(`the seal failed: ${error}`);
        return false;
      },
    );
    const isWhole = await sealing;
    await settlePending();
    damage.noteSeal(nowMs, isWhole);
    hadManifest ||= isWhole && disk.contents().has(MANIFEST);
    if (disk.isDead) return;
    const isCalm = isWhole && disk.fired.length === 0 && disk.unreadable.size === 0;
    expectNone(findMissingPart(opened(), disk, (file) => damage.isFlipped(file)));
    if (isCalm) expectNone(findStrayPart(opened(), disk));
    const contributions = plan.apps.flatMap((appId) =>
      [...model.histories(appId, [])].flatMap((record) => record.contributions),
    );
    expectNone(findTrimmedReport(opened(), disk, contributions));
  }

  function expectNone(broken: string | null): void {
    if (broken !== null) failed(broken);
  }

  async function acknowledge(): Promise<void> {
    await check(false);
    const { directory, files } = opened();
    const given = [...directory.archive.damaged.keys()];
    if (given.length === 0) return;
    tell(`given up: ${given.join(", ")}`);
    const contents = disk.contents();
    const parts = await Promise.all(
      given.map((file) => heldByPart(`${ARCHIVE_DIRECTORY}/${file}`, contents, engine)),
    );
    let isSure = true;
    try {
      const known = await readAcknowledged(files, DAMAGED_DIRECTORY);
      const more = given.map((name) => ({ name, bytes: 0 }));
      await writeAcknowledged(files, DAMAGED_DIRECTORY, [...known, ...more]);
    } catch {
      isSure = false;
    }
    damage.noteAcknowledged(
      given,
      parts.filter((part) => part !== null),
      isSure,
    );
    await check(false);
  }

  async function take(step: Step): Promise<void> {
    switch (step) {
      case "post":
        return send();
      case "burst":
        await Promise.all(Array.from({ length: draws.between(2, 4) }, send));
        return;
      case "clock": {
        clock.advance(drawClockTurnMs(plan, draws));
        return tell("the clock was turned");
      }
      case "seal":
        return seal();
      case "busySeal": {
        for (let batches = draws.between(1, 3); batches > 0; batches--) {
          disk.at(draws.between(1, 60), () => void pending.push(send()));
        }
        return seal();
      }
      case "restart":
        return restart();
      case "ask":
        return check(false);
      case "acknowledge":
        return acknowledge();
    }
  }

  /** With nothing that goes wrong any more: a restart, a seal, a restart, and always the same answers. */
  async function finish(): Promise<void> {
    isEnding = true;
    disk.disarm();
    tell("from here on nothing goes wrong");
    await endCalmly();
    await check(true);
    const refusedBefore = totals.refused;
    await send();
    if (totals.refused > refusedBefore) failed("a batch is refused where nothing is wrong");
    await check(false);
    if (plan.hasSeals) {
      await seal();
      await check(false);
    }
    await endCalmly();
    await check(true);
    await closeService(opened());
  }

  async function endCalmly(): Promise<void> {
    await closeService(opened());
    await settlePending();
    disk.unreadable.clear();
    await calmStart();
  }

  async function calmStart(): Promise<void> {
    totals.starts++;
    if (!(await tryStart(disk.boot()))) failed("the last start was cut off");
    await noteStart(disk.contents());
    tell("started for the last time");
  }

  try {
    await start();
    for (let step = 0; step < plan.steps; step++) {
      totals.steps++;
      const name = drawStep(plan, draws);
      if (draws.chance(plan.faultChance)) arm(FINAL_FAULT_OPERATIONS);
      await take(name);
      await settlePending();
      if (disk.isDead) await restart();
    }
    await finish();
  } finally {
    disk.close();
  }
  totals.operations = disk.operations;
  totals.records = model.recordCount;
  return { totals, digest: disk.digest, story };
}

function markOf({ reports }: SentBatch): number {
  return Number(reports[0]![BATCH_MARK]);
}

function nameOf(batch: SentBatch): string {
  const devices = [...new Set(batch.reports.map(({ device_id }) => device_id))].join(", ");
  return `batch ${markOf(batch)} of ${batch.appId} (${batch.reports.length} of ${devices})`;
}
