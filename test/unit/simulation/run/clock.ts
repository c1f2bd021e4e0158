import { createManualClock, type ManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION_DAYS, startOfUtcDayMs } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { type UtcDay, utcDayStartMs } from "../../../../src/model/time/utc-day.ts";
import type { RunContext } from "./context.ts";
import type { Draws } from "./draws.ts";
import { RUN_START_MS, type RunPlan } from "./plan.ts";

/** How a clock comes to show another time. */
export type ClockTurn = "hours" | "days" | "months" | "back" | "midnight" | "border" | "far" | "right";

/** The time of day of a run: it goes by, and its clock is wrong at times. */
export interface RunClock extends ManualClock {
  /**
   * Time goes by, or somebody turns the clock, in a way that is drawn where none is given. Says what happened. Days are
   * those that something is known of.
   */
  turn(days: readonly UtcDay[], how?: ClockTurn): string;
}

const HOUR_MS = MS_PER_DAY / 24;
const MINUTE_MS = 60_000;

export function createRunClock({ hasSeals }: RunPlan, draws: Draws): RunClock {
  const clock = createManualClock(RUN_START_MS);
  /** How far the clock is from the true time. */
  let errorMs = 0;

  function passing(byMs: number): string {
    clock.advance(byMs);
    return "time goes by";
  }

  function turnTo(toMs: number): string {
    const byMs = toMs - clock.nowMs();
    errorMs += byMs;
    clock.advance(byMs);
    return `the clock is turned ${byMs < 0 ? "back" : "on"}`;
  }

  /** A moment before or after an instant, or the very one. */
  function around(instantMs: number): number {
    return instantMs + draws.pick([-5 * MINUTE_MS, -1, 0, 1, 5 * MINUTE_MS]);
  }

  return {
    ...clock,
    turn(days, given) {
      const nowMs = clock.nowMs();
      const weights: Record<ClockTurn, number> = {
        hours: 5,
        days: hasSeals ? 8 : 2,
        months: 1,
        back: 1,
        midnight: 2,
        border: days.length > 0 ? 3 : 0,
        far: 0.3,
        right: errorMs === 0 ? 0 : 6,
      };
      switch (given ?? draws.weighted(weights)) {
        case "hours":
          return passing(draws.between(1, 30) * HOUR_MS);
        case "days":
          return passing(draws.between(1, 12) * MS_PER_DAY);
        case "months":
          return passing(draws.between(30, 370) * MS_PER_DAY);
        case "back":
          return turnTo(nowMs - draws.between(1, draws.pick([20, 400])) * HOUR_MS);
        case "midnight":
          return turnTo(around(startOfUtcDayMs(nowMs) + draws.pick([0, MS_PER_DAY])));
        case "border":
          return days.length === 0 ? "the clock stays" : turnTo(around(leavesMs(draws.pick(days))));
        case "far":
          return turnTo(nowMs + draws.pick([-20, -2, 2, 20]) * 365 * MS_PER_DAY);
        case "right":
          return `${turnTo(nowMs - errorMs)}: it is right again`;
      }
    },
  };
}

/** Turns a run's clock, with regard to all days that it has records of; and perhaps sets how long they are kept. */
export function turnClock(run: RunContext, how?: ClockTurn): void {
  const { clock, retention, model, totals, tell, sealedDays } = run;
  const set = retention.turn();
  if (set !== null) tell(set);
  totals.clockTurns++;
  tell(clock.turn([...new Set([...sealedDays(), ...model.days()])].sort(byNumber), how));
}

function byNumber(a: number, b: number): number {
  return a - b;
}

/** When a day leaves the retention. */
function leavesMs(day: UtcDay): number {
  return utcDayStartMs((day + DEFAULT_RETENTION_DAYS + 1) as UtcDay);
}
