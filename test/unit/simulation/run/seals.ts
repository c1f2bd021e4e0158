import { utcDayOf } from "../../../../src/model/time/utc-day.ts";
import type { SealReport } from "../../../../src/service/upkeep/seal/seal.ts";
import { checkAnswers } from "../check/checks.ts";
import {
  findExpiredReport,
  findMissingPart,
  findSecondOpinion,
  findStrayPart,
  findTrimmedReport,
} from "../check/invariants.ts";
import type { RunBatches } from "../reports/batches.ts";
import { turnClock } from "./clock.ts";
import type { RunContext } from "./context.ts";
import type { RunMachine } from "./machine.ts";

/** Seals, in peace or not, and what must hold after each. */
export interface RunSeals {
  seal(): Promise<void>;
  /** Reports come before some of its operations or before each, and somebody may turn the clock. */
  sealBusily(): Promise<void>;
  /** The disk refuses something that matters to a seal, and whoever saw it fail seals again. */
  sealBadly(): Promise<void>;
  /** The clock is wrong for a seal or two, and right again for the next. */
  sealAtWrongTime(): Promise<void>;
}

/** Beside one seal: batches are operations too, before which more could come. */
const BUSY_BATCHES_MAX = 24;
/** A seal has about so many operations. */
const SEAL_OPERATIONS = 60;

export function createRunSeals(run: RunContext, batches: RunBatches, machine: RunMachine): RunSeals {
  const { draws, plan, clock, retention, disk, model, damage } = run;

  async function seal(): Promise<void> {
    const nowMs = clock.nowMs();
    const time = { nowMs, firstDay: utcDayOf(retention.startMs(nowMs)), retention: retention.text };
    const report = await trySeal(run);
    await batches.settled();
    damage.noteSeal(run.service, time, report);
    if (report !== null) machine.noteSealed();
    if (disk.isDead) return;
    expectNone(findMissingPart(run.service, disk, damage.isFlipped));
    expectNone(findSecondOpinion(run.service, disk));
    const records = plan.apps.flatMap((appId) => [...model.histories(appId, [])]);
    const contributions = records.flatMap((record) => record.contributions);
    expectNone(findTrimmedReport(run.service, disk, contributions));
    if (report === null || !hasBeenCalm(run)) return;
    expectNone(findStrayPart(run.service, disk));
    expectNone(findExpiredReport(run.service, disk, time.firstDay, contributions));
  }

  function expectNone(broken: string | null): void {
    if (broken !== null) run.fail(broken);
  }

  async function sealBusily(): Promise<void> {
    const often = draws.pick([0.03, 0.1, 0.5, 1]);
    let turnsLeft = draws.chance(0.3) ? 1 : 0;
    let batchesLeft = BUSY_BATCHES_MAX;
    disk.watch(() => {
      if (turnsLeft > 0 && draws.chance(0.05)) {
        turnsLeft--;
        turnClock(run);
      }
      if (batchesLeft === 0 || !draws.chance(often)) return;
      batchesLeft--;
      batches.sendAside();
    });
    await seal();
    disk.watch(null);
  }

  return {
    seal,
    sealBusily,
    async sealBadly() {
      for (let left = draws.between(2, 3); left > 0 && !disk.isDead; left--) {
        if (plan.faultChance > 0) machine.arm(SEAL_OPERATIONS, "seal");
        await seal();
      }
    },
    async sealAtWrongTime() {
      turnClock(run, "border");
      for (let left = draws.between(1, 2); left > 0 && !disk.isDead; left--) {
        await seal();
        if (draws.chance(0.3)) turnClock(run, "days");
      }
      if (disk.isDead) return;
      turnClock(run, "right");
      await batches.send();
      await checkAnswers(run, batches, { isThorough: false, settles: false });
      await sealBusily();
    },
  };
}

/** Null where the seal failed. */
async function trySeal(run: RunContext): Promise<SealReport | null> {
  const { totals } = run;
  const { schedule, archive } = run.service.directory;
  const before = archive.manifest.seal;
  try {
    const sealed = await schedule.sealNow();
    const { days, records, expired, deleted, blocked, logBytes } = sealed;
    run.tell(
      `sealed ${records} records of ${days.join(", ") || "no day"}; expired ${expired.length}, deleted ${deleted.length}, blocked ${blocked.length}, ${logBytes} bytes off the log`,
    );
    totals.seals++;
    return sealed;
  } catch (error) {
    run.tell(`the seal fails: ${error}`);
    if (hasBeenCalm(run)) run.fail(`the seal failed: ${error}`, error);
    if (archive.manifest.seal !== before) run.fail(`the seal archived, and says that it failed: ${error}`);
    totals.failedSeals++;
    return null;
  }
}

/** Whether nothing went wrong since the last start. */
function hasBeenCalm({ disk }: RunContext): boolean {
  return disk.fired.length === 0 && disk.unreadable.size === 0;
}
