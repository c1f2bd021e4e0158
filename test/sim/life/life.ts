import { readAcknowledged, writeAcknowledged } from "../../../src/directory/acknowledged.ts";
import { createLifeBackups } from "./backups.ts";
import { createLifeBatches } from "./batches.ts";
import { checkAnswers } from "./checks.ts";
import { turnClock } from "./clock.ts";
import { createLifeContext, type LifeOptions } from "./context.ts";
import { heldByPart } from "./flips.ts";
import { createLifeMachine } from "./machine.ts";
import type { LifeTotals } from "./outcome.ts";
import { drawStep, type Step } from "./plan.ts";
import { createLifeSeals } from "./seals.ts";
import { ARCHIVE_DIRECTORY, closeService, DAMAGED_DIRECTORY } from "./service.ts";

export interface LivedLife {
  readonly totals: LifeTotals;
  /** Of all operations of its disk: one seed, one digest. */
  readonly digest: number;
  readonly story: readonly string[];
}

/** A fault comes within so many operations: those of a few batches, or of one seal. */
const STEP_FAULT_OPERATIONS = 60;

/** Lives a life from its seed; throws a `LifeFailure` where the service breaks a promise. */
export async function live(options: LifeOptions): Promise<LivedLife> {
  const life = createLifeContext(options);
  const { draws, plan, disk, engine, model, damage, totals, story } = life;
  const batches = createLifeBatches(life);
  const machine = createLifeMachine(life, batches);
  const backups = createLifeBackups(life, batches, machine);
  const seals = createLifeSeals(life, batches, machine);
  /** Each question to the archive takes milliseconds, so only the end of a life that has one asks them all. */
  let isThorough = !plan.hasSeals;

  const check = (settles: boolean) => checkAnswers(life, batches, { isThorough, settles });

  async function restart(): Promise<void> {
    await machine.end();
    await machine.start();
    const { log, recovery } = life.service.directory;
    // What could not be read was not put in place anew either: a power failure may take it yet.
    await check(log.state !== "failed" && recovery.readUpTo === Number.POSITIVE_INFINITY);
  }

  /** As `verify --acknowledge` does. */
  async function acknowledge(): Promise<void> {
    await check(false);
    const { directory, files } = life.service;
    const given = [...directory.archive.damaged.keys()];
    if (given.length === 0) return;
    life.tell(`given up: ${given.join(", ")}`);
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
        return turnClock(life);
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
    life.tell("from here on nothing goes wrong");
    await machine.restartCalmly();
    await check(true);
    const { refused } = totals;
    await batches.send();
    if (totals.refused > refused) life.fail("a batch is refused where nothing is wrong");
    await check(false);
    if (plan.hasSeals) {
      await seals.seal();
      await check(false);
    }
    await machine.restartCalmly();
    await check(true);
    await closeService(life.service);
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
