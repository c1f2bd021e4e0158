import { lostName } from "../../../../src/archive/archive-files.ts";
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
import { MANIFEST } from "../disk/flips.ts";
import type { RunBatches } from "../reports/batches.ts";
import type { RunContext } from "./context.ts";
import { ARCHIVE_DIRECTORY, closeService, DAMAGED_DIRECTORY, openService } from "./service.ts";

/** Starts the service of a run, and looks at what a start says. */
export interface RunStarts {
  /** Starts it, again and again where that is cut off. */
  start(): Promise<void>;
  /** Starts it once, with nothing that goes wrong. */
  startCalmly(): Promise<void>;
  /** A seal came to its end, and there may be a manifest. */
  noteSealed(): void;
}

const START_FAULT_OPERATIONS = 25;
/** From this start on, of those for one restart, nothing goes wrong any more. */
const CALM_START = 4;

export function createRunStarts(run: RunContext, batches: RunBatches): RunStarts {
  const { draws, plan, disk, damage } = run;
  /** Whether a seal ever came to its swap. */
  let hadManifest = false;

  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const booted = disk.boot();
      if (attempt < CALM_START && draws.chance(plan.faultChance)) armFault(run, START_FAULT_OPERATIONS);
      if (attempt >= CALM_START) disk.unreadable.clear();
      if (await tryStart(run, booted)) break;
      countEnd(run);
    }
    await noteStart();
  }

  async function noteStart(): Promise<void> {
    const { directory, notes } = run.service;
    const { entries, damage: damaged, tornTail } = directory.recovery;
    const end = tornTail === null ? "" : ", a torn end";
    run.tell(`started: ${entries} entries, ${damaged.length} damaged places${end}`);
    const contents = disk.contents();
    expectRead(run);
    damage.noteStart(run.service, contents);
    await noteLeftOut(run, contents);
    const unnamed = damage.findUnnamed(run.service, contents);
    if (unnamed !== null) run.fail(unnamed);
    if (damage.hasFlips || wasHindered(run)) return;
    if (!batches.hadOpen && damaged.length > 0)
      run.fail(`damage where nothing was damaged: ${JSON.stringify(damaged)}`);
    if (hadManifest && notes.length > 0) run.fail(`the archive says: ${notes.join(" ")}`);
  }

  return {
    start,
    async startCalmly() {
      if (!(await tryStart(run, disk.boot()))) run.fail("the last start was cut off");
      await noteStart();
    },
    noteSealed() {
      hadManifest ||= disk.contents().has(MANIFEST);
    },
  };
}

async function tryStart(run: RunContext, booted: Booted): Promise<boolean> {
  const { clock, retention, createSalt, disk, totals } = run;
  const { segmentBytesMax } = run.plan;
  totals.starts++;
  try {
    run.setService(
      await openService({
        machine: booted,
        clock,
        retention,
        segmentBytesMax,
        createSalt,
        planted: run.planted,
      }),
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

/** A start that could not open its files for a moment has to wait or to end: it knows nothing of them. */
function expectRead(run: RunContext): void {
  const { disk } = run;
  const { readUpTo } = run.service.directory.recovery;
  const isHindered =
    disk.unreadable.size > 0 || disk.fired.some((fault) => hindersReading(fault) && !isPassing(fault));
  if (readUpTo !== Number.POSITIVE_INFINITY && !isHindered)
    run.fail(`ready without the log after entry ${readUpTo}, which nothing is wrong with`);
}

/** Parts that a new manifest had to do without. */
async function noteLeftOut(run: RunContext, contents: ReadonlyMap<string, Uint8Array>): Promise<void> {
  const { damage, engine } = run;
  for (const note of run.service.notes) {
    const file = /^archive\/(\S+) can't be read\. The new manifest/.exec(note)?.[1];
    if (file === undefined) continue;
    const bytes =
      contents.get(`${DAMAGED_DIRECTORY}/${lostName(file)}`) ?? contents.get(`${ARCHIVE_DIRECTORY}/${file}`);
    damage.noteLeftOut(await engine.recordsOf(bytes!).catch(() => []));
  }
}

/** Something will go wrong within so many operations. */
export function armFault(run: RunContext, withinOperations: number, occasion: Occasion = "any"): void {
  const { damage, disk, draws } = run;
  const fault = drawFault(draws, withinOperations, occasion);
  if (damage.hasFlippedPart(disk.contents()) && hindersReading(fault)) return; // See `isBeyondTelling`.
  run.tell(`fault: ${faultText(fault)}`);
  disk.arm(fault);
}

/** Counts what went wrong since the last start. */
export function countEnd({ disk, totals }: RunContext): void {
  totals.faults += disk.fired.length;
  totals.powerFailures += disk.fired.filter(({ kind }) => kind === "power").length;
  totals.kills += disk.fired.filter(({ kind }) => kind === "kill").length;
}
