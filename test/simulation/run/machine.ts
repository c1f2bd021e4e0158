import { lostName } from "../../../src/archive/files/paths.ts";
import { wasHindered } from "../check/checks.ts";
import type { Booted } from "../disk/disk.ts";
import {
  drawFault,
  faultText,
  hindersReading,
  isPassing,
  mayRefuseStart,
  type Occasion,
} from "../disk/faults.ts";
import { flipByte, MANIFEST } from "../disk/flips.ts";
import type { RunBatches } from "../reports/batches.ts";
import type { RunContext } from "./context.ts";
import { ARCHIVE_DIRECTORY, closeService, DAMAGED_DIRECTORY, openService } from "./service.ts";

/** Starts and ends the service, and lets things go wrong with its disk. */
export interface RunMachine {
  /** Starts the service, again and again where that is cut off. */
  start(): Promise<void>;
  /** Ends the service in some way, and what lies on the disk may change. */
  end(): Promise<void>;
  /** Ends it as it should, and starts it once, with nothing that goes wrong. */
  restartCalmly(): Promise<void>;
  /** Something will go wrong within so many operations. */
  arm(withinOperations: number, occasion?: Occasion): void;
  /** A seal came to its end, and there may be a manifest. */
  noteSealed(): void;
}

const START_FAULT_OPERATIONS = 25;
/** From this start on, of those for one restart, nothing goes wrong any more. */
const CALM_START = 4;

export function createRunMachine(run: RunContext, batches: RunBatches): RunMachine {
  const { draws, plan, clock, createSalt, disk, engine, damage, totals } = run;
  /** Whether a seal ever came to its swap. */
  let hadManifest = false;

  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const booted = disk.boot();
      if (attempt < CALM_START && draws.chance(plan.faultChance)) arm(START_FAULT_OPERATIONS);
      if (attempt >= CALM_START) disk.unreadable.clear();
      if (await tryStart(booted)) break;
      countEnd();
    }
    await noteStart();
  }

  async function tryStart(booted: Booted): Promise<boolean> {
    const { segmentBytesMax } = plan;
    totals.starts++;
    try {
      run.setService(
        await openService({ machine: booted, clock, segmentBytesMax, createSalt, planted: run.planted }),
      );
    } catch (error) {
      if (disk.isDead) run.tell("the start is cut off");
      else if (disk.fired.some(mayRefuseStart)) run.tell(`the start is refused: ${error}`);
      else run.fail(`the start was refused: ${error}`, error);
      return false;
    }
    await run.service.directory.inspect().catch(() => undefined); // It only tells more.
    if (!disk.isDead) return true;
    run.tell("the start is cut off");
    await closeService(run.service);
    return false;
  }

  async function noteStart(): Promise<void> {
    const { directory, notes } = run.service;
    const { entries, damage: damaged, tornTail } = directory.recovery;
    const end = tornTail === null ? "" : ", a torn end";
    run.tell(`started: ${entries} entries, ${damaged.length} damaged places${end}`);
    const contents = disk.contents();
    expectRead();
    damage.noteStart(run.service, contents);
    await noteLeftOut(contents);
    const unnamed = damage.findUnnamed(run.service, contents);
    if (unnamed !== null) run.fail(unnamed);
    if (damage.hasFlips || wasHindered(run)) return;
    if (!batches.hadOpen && damaged.length > 0)
      run.fail(`damage where nothing was damaged: ${JSON.stringify(damaged)}`);
    if (hadManifest && notes.length > 0) run.fail(`the archive says: ${notes.join(" ")}`);
  }

  /** A start that could not open its files for a moment has to wait or to end: it knows nothing of them. */
  function expectRead(): void {
    const { readUpTo } = run.service.directory.recovery;
    const isHindered =
      disk.unreadable.size > 0 || disk.fired.some((fault) => hindersReading(fault) && !isPassing(fault));
    if (readUpTo !== Number.POSITIVE_INFINITY && !isHindered)
      run.fail(`ready without the log after entry ${readUpTo}, which nothing is wrong with`);
  }

  /** Parts that a new manifest had to do without. */
  async function noteLeftOut(contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
    for (const note of run.service.notes) {
      const file = /^archive\/(\S+) can't be read: the new manifest/.exec(note)?.[1];
      if (file === undefined) continue;
      const bytes =
        contents.get(`${DAMAGED_DIRECTORY}/${lostName(file)}`) ??
        contents.get(`${ARCHIVE_DIRECTORY}/${file}`);
      damage.noteLeftOut(await engine.recordsOf(bytes!).catch(() => []));
    }
  }

  function arm(withinOperations: number, occasion: Occasion = "any"): void {
    const fault = drawFault(draws, withinOperations, occasion);
    if (damage.hasFlippedPart(disk.contents()) && hindersReading(fault)) return; // See `isBeyondTelling`.
    run.tell(`fault: ${faultText(fault)}`);
    disk.arm(fault);
  }

  function countEnd(): void {
    totals.faults += disk.fired.length;
    totals.powerFailures += disk.fired.filter(({ kind }) => kind === "power").length;
    totals.kills += disk.fired.filter(({ kind }) => kind === "kill").length;
  }

  async function stop(): Promise<void> {
    countEnd();
    await closeService(run.service);
    await batches.settled();
    disk.unreadable.clear();
  }

  async function flip(): Promise<void> {
    const { forgesChecksums } = run;
    const flipped = await flipByte({ disk, engine, draws, flipped: damage.flipped, forgesChecksums });
    if (flipped === null) return;
    totals.flips++;
    const { path, offset } = flipped;
    const entry =
      flipped.kind === "log" && flipped.frame !== null ? `, in entry ${flipped.frame.sequence}` : "";
    run.tell(`a byte flips: ${offset} of ${path}${entry}`);
    const isForged = forgesChecksums && flipped.kind === "log" && flipped.frame !== null;
    if (!isForged) damage.noteFlip(flipped);
  }

  function hideFile(): void {
    const paths = [...disk.contents().keys()].filter(
      (path) => path.endsWith(".wal") || path.startsWith(`${ARCHIVE_DIRECTORY}/`),
    );
    if (paths.length === 0) return;
    const path = draws.pick(paths);
    if (path === MANIFEST && damage.hasFlippedPart(disk.contents())) return; // See `isBeyondTelling`.
    run.tell(`can't be read until the next restart: ${path}`);
    disk.unreadable.add(path);
  }

  return {
    start,
    arm,
    async end() {
      if (disk.isDead) {
        run.tell("the machine or the process died");
      } else {
        const how = draws.weighted({ close: 3, kill: 2, power: 3 });
        run.tell({ close: "closed", kill: "killed", power: "the power fails" }[how]);
        if (how === "power") totals.powerFailures++;
        if (how === "kill") totals.kills++;
        if (how !== "close") disk.die(how, draws.chance(0.7) ? () => draws.next() : undefined);
      }
      await stop();
      if (draws.chance(plan.flipChance)) await flip();
      if (draws.chance(plan.flipChance / 3)) hideFile();
    },
    async restartCalmly() {
      await stop();
      if (!(await tryStart(disk.boot()))) run.fail("the last start was cut off");
      await noteStart();
    },
    noteSealed() {
      hadManifest ||= disk.contents().has(MANIFEST);
    },
  };
}
