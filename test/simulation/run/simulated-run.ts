import { readAcknowledged, writeAcknowledged } from "../../../src/directory/acknowledged.ts";
import { checkAnswers } from "../check/checks.ts";
import { heldByPart } from "../disk/flips.ts";
import { createRunBatches } from "../reports/batches.ts";
import { createRunBackups } from "./backups.ts";
import { turnClock } from "./clock.ts";
import { createRunContext, type RunOptions } from "./context.ts";
import { createRunMachine } from "./machine.ts";
import type { RunTotals } from "./outcome.ts";
import { drawStep, type Step } from "./plan.ts";
import { createRunSeals } from "./seals.ts";
import { ARCHIVE_DIRECTORY, closeService, DAMAGED_DIRECTORY } from "./service.ts";

export interface FinishedRun {
  readonly totals: RunTotals;
  /** Of all operations of its disk: one seed, one digest. */
  readonly digest: number;
  readonly story: readonly string[];
}

/** A fault comes within so many operations: those of a few batches, or of one seal. */
const STEP_FAULT_OPERATIONS = 60;

/** Simulates a run from its seed; throws a `RunFailure` where the service breaks a promise. */
export async function simulateRun(options: RunOptions): Promise<FinishedRun> {
  const run = createRunContext(options);
  const { draws, plan, disk, engine, model, damage, totals, story } = run;
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

  /** As `verify --acknowledge` does. */
  async function acknowledge(): Promise<void> {
    await check(false);
    const { directory, files } = run.service;
    const given = [...directory.archive.damaged.keys()];
    if (given.length === 0) return;
    run.tell(`given up: ${given.join(", ")}`);
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
    const known = parts.filter((part) => part !== null);
    damage.noteAcknowledged(given, known, isSure);
    await check(false);
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
        return acknowledge();
    }
  }

  /** With nothing that goes wrong any more: a restart, a report, a seal, a restart, and always the right answers. */
  async function finish(): Promise<void> {
    isThorough = true;
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

  try {
    if (plan.beginsEarlier) batches.sendToEarlierVersion();
    await machine.start();
    for (let step = 0; step < plan.steps; step++) {
      totals.steps++;
      const name = drawStep(plan, draws);
      while (draws.chance(plan.faultChance)) machine.arm(STEP_FAULT_OPERATIONS);
      await take(name);
      await batches.settled();
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
