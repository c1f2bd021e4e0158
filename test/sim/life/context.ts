import { assert } from "../../../src/lib/assert.ts";
import type { UtcDay } from "../../../src/time/utc-day.ts";
import type { CreateSalt } from "../../../src/wal/wal.ts";
import { seededSalts } from "../../support/seeded-random.ts";
import { createLifeClock, type LifeClock } from "./clock.ts";
import { createLifeDamage, type LifeDamage } from "./damage.ts";
import { createLifeDisk, type LifeDisk } from "./disk.ts";
import { createDraws, type Draws } from "./draws.ts";
import type { LifeEngine } from "./engine.ts";
import { createLifeModel, type LifeModel } from "./model.ts";
import { LifeFailure, type LifeTotals, noTotals } from "./outcome.ts";
import { type LifeKind, type LifePlan, planLife } from "./plan.ts";
import type { LifeService, Planted } from "./service.ts";

export interface LifeOptions {
  readonly seed: number;
  readonly engine: LifeEngine;
  readonly kind?: LifeKind;
  readonly planted?: Planted;
  /** Flipped frames of the log check out again, which only the model can notice. */
  readonly forgesChecksums?: boolean;
}

/** What all parts of a life share. */
export interface LifeContext {
  readonly engine: LifeEngine;
  readonly planted: Planted;
  readonly forgesChecksums: boolean;
  readonly draws: Draws;
  readonly plan: LifePlan;
  readonly clock: LifeClock;
  /** The same salts for the same seed. */
  readonly createSalt: CreateSalt;
  readonly disk: LifeDisk;
  readonly model: LifeModel;
  readonly damage: LifeDamage;
  readonly totals: LifeTotals;
  readonly story: readonly string[];
  /** The service of the last start. */
  readonly service: LifeService;
  /** Days that are sealed, or past the retention and not forgotten. */
  sealedDays(): readonly UtcDay[];
  setService(service: LifeService): void;
  tell(line: string): void;
  /** A promise is broken: the life ends. */
  fail(reason: string, cause?: unknown): never;
}

export function createLifeContext(options: LifeOptions): LifeContext {
  const { seed, engine, kind = "any", planted = {}, forgesChecksums = false } = options;
  const draws = createDraws(seed);
  const plan = planLife(seed, kind, draws);
  const clock = createLifeClock(plan, draws);
  const model = createLifeModel();
  const story: string[] = [];
  let service: LifeService | null = null;
  return {
    engine,
    planted,
    forgesChecksums,
    draws,
    plan,
    clock,
    createSalt: seededSalts(seed),
    disk: createLifeDisk(engine),
    model,
    damage: createLifeDamage(model),
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
    tell: (line) => void story.push(`${new Date(clock.nowMs()).toISOString().slice(0, 16)}  ${line}`),
    fail(reason, cause) {
      throw new LifeFailure(seed, reason, story, cause);
    },
  };
}
