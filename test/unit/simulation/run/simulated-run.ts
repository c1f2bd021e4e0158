import { FRAME_SALT_BYTES } from "../../../../src/lib/frames/frame.ts";
import { encodeSegmentHead, segmentName } from "../../../../src/wal/segment.ts";
import { checkAnswers } from "../check/checks.ts";
import { createRunBatches, type RunBatches } from "../reports/batches.ts";
import { acknowledgeDamage } from "./acknowledge.ts";
import { createRunBackups, type RunBackups } from "./backups.ts";
import { turnClock } from "./clock.ts";
import { createRunContext, type RunContext, type RunOptions } from "./context.ts";
import { createRunMachine, type RunMachine } from "./machine.ts";
import type { RunTotals } from "./outcome.ts";
import { drawStep, type Step } from "./plan.ts";
import { createRunSeals, type RunSeals } from "./seals.ts";
import { closeService, LOG_DIRECTORY } from "./service.ts";

export interface FinishedRun {
  readonly totals: RunTotals;
  /** Of all operations of its disk: one seed, one digest. */
  readonly digest: number;
  readonly story: readonly string[];
}

const FIRST_SEGMENT = `${LOG_DIRECTORY}/${segmentName(1)}`;
/** A fault comes within so many operations: those of a few batches, or of one seal. */
const STEP_FAULT_OPERATIONS = 60;

/** Simulates a run from its seed; throws a `RunFailure` where the service breaks a promise. */
export async function simulateRun(options: RunOptions): Promise<FinishedRun> {
  const run = createRunContext(options);
  const { draws, plan, disk, model, totals, story } = run;
  const batches = createRunBatches(run);
  const machine = createRunMachine(run, batches);
  const backups = createRunBackups(run, batches, machine);
  const seals = createRunSeals(run, batches, machine);
  /** Each question to the archive takes milliseconds, so only the end of a run that has one asks them all. */
  let isThorough = !plan.hasSeals;

  const check = (settles: boolean) => checkAnswers(run, batches, { isThorough, settles });

  async function restart(): Promise<void> {
    await machine.end();
    await machine.start();
    const { log, recovery } = run.service.directory;
    // What could not be read was not put in place anew either: a power failure may take it yet.
    await check(log.state !== "failed" && recovery.readUpTo === Number.POSITIVE_INFINITY);
  }

  async function take(step: Step): Promise<void> {
    switch (step) {
      case "post":
        return batches.send();
      case "burst":
        await Promise.all(Array.from({ length: draws.between(2, 4) }, batches.send));
        return;
      case "clock":
        return turnClock(run);
      case "seal":
        return seals.seal();
      case "busySeal":
        return seals.sealBusily();
      case "badSeal":
        return seals.sealBadly();
      case "wrongSeal":
        return seals.sealAtWrongTime();
      case "backup":
        return backups.backUp();
      case "restart":
        return restart();
      case "ask":
        return check(false);
      case "acknowledge":
        await check(false);
        if (await acknowledgeDamage(run)) await check(false);
        return;
    }
  }

  try {
    if (plan.beginsEmpty) disk.damage(FIRST_SEGMENT, encodeSegmentHead(1, new Uint8Array(FRAME_SALT_BYTES)));
    await machine.start();
    for (let step = 0; step < plan.steps; step++) {
      totals.steps++;
      const name = drawStep(plan, draws);
      while (draws.chance(plan.faultChance)) machine.arm(STEP_FAULT_OPERATIONS);
      await take(name);
      await batches.settled();
      if (disk.isDead) await restart();
    }
    isThorough = true;
    await finish(run, { batches, machine, backups, seals }, check);
  } finally {
    disk.close();
  }
  totals.operations = disk.operations;
  totals.records = model.recordCount;
  return { totals, digest: disk.digest, story };
}

interface RunPieces {
  readonly batches: RunBatches;
  readonly machine: RunMachine;
  readonly backups: RunBackups;
  readonly seals: RunSeals;
}

/** With nothing that goes wrong any more: a restart, a report, a seal, a restart, and always the right answers. */
async function finish(
  run: RunContext,
  { batches, machine, backups, seals }: RunPieces,
  check: (settles: boolean) => Promise<void>,
): Promise<void> {
  const { disk, plan, totals } = run;
  disk.disarm();
  run.tell("from here on nothing goes wrong");
  await machine.restartCalmly();
  await check(true);
  const { refused } = totals;
  await batches.send();
  if (totals.refused > refused) run.fail("a batch is refused where nothing is wrong");
  await check(false);
  if (plan.hasSeals) {
    await seals.seal();
    await check(false);
  }
  await machine.restartCalmly();
  await check(true);
  await closeService(run.service);
  await backups.expectRestored();
}
