import { assert } from "../../../../src/lib/assert.ts";
import type { CreateSalt } from "../../../../src/lib/frames/head.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import { seededSalts } from "../../../support/seeded-random.ts";
import { createRunModel, type RunModel } from "../check/model.ts";
import { createRunDamage, type RunDamage } from "../disk/damage.ts";
import { createRunDisk, type RunDisk, withoutCounts } from "../disk/disk.ts";
import { createRunClock, type RunClock } from "./clock.ts";
import { createDraws, type Draws } from "./draws.ts";
import type { SimulationEngine } from "./engine.ts";
import { noTotals, RunFailure, type RunTotals } from "./outcome.ts";
import { planRun, type RunKind, type RunPlan } from "./plan.ts";
import { createRunRetention, type RunRetention } from "./retention.ts";
import type { Planted, RunService } from "./service.ts";

export interface RunOptions {
  readonly seed: number;
  readonly engine: SimulationEngine;
  readonly kind?: RunKind;
  readonly planted?: Planted;
  /** Flipped frames of the log check out again, which only the model can notice. */
  readonly forgesChecksums?: boolean;
}

/** What the whole of a run shares. */
export interface RunContext {
  readonly engine: SimulationEngine;
  readonly planted: Planted;
  readonly forgesChecksums: boolean;
  readonly draws: Draws;
  readonly plan: RunPlan;
  readonly clock: RunClock;
  readonly retention: RunRetention;
  /** The same salts for the same seed. */
  readonly createSalt: CreateSalt;
  readonly disk: RunDisk;
  readonly model: RunModel;
  readonly damage: RunDamage;
  readonly totals: RunTotals;
  readonly story: readonly string[];
  /** The service of the last start. */
  readonly service: RunService;
  /** Days that are sealed, or past the retention and not forgotten. */
  sealedDays(): readonly UtcDay[];
  setService(service: RunService): void;
  tell(line: string): void;
  /** A promise is broken: the run ends. */
  fail(reason: string, cause?: unknown): never;
}

export function createRunContext(options: RunOptions): RunContext {
  const { seed, engine, kind = "any", planted = {}, forgesChecksums = false } = options;
  const draws = createDraws(seed);
  const plan = planRun(seed, kind, draws);
  const clock = createRunClock(plan, draws);
  const model = createRunModel();
  const story: string[] = [];
  let service: RunService | null = null;
  return {
    engine,
    planted,
    forgesChecksums,
    draws,
    plan,
    clock,
    retention: createRunRetention(seed),
    createSalt: seededSalts(seed),
    disk: createRunDisk(engine),
    model,
    damage: createRunDamage(model),
    totals: noTotals(),
    story,
    get service() {
      assert(service !== null, "the service was started");
      return service;
    },
    sealedDays() {
      if (service === null) return [];
      const { days, expired } = service.directory.archive.manifest;
      return [...days.keys(), ...expired.keys()].sort((a, b) => a - b);
    },
    setService(started) {
      service = started;
    },
    tell(line) {
      const time = new Date(clock.nowMs()).toISOString().slice(0, 16);
      story.push(`${time}  ${withoutCounts(line)}`);
    },
    fail(reason, cause) {
      throw new RunFailure(seed, reason, story, cause);
    },
  };
}
