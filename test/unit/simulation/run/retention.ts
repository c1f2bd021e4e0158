import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../../../src/model/time/retention.ts";
import { createDraws } from "./draws.ts";

/** How long the service of a run keeps records: in most runs as by default, in some it is set anew now and then. */
export interface RunRetention extends Retention {
  /** Sets another one, or not. Says what happened; null where nothing did. */
  turn(): string | null;
}

/** One run in so many sets its retention. */
const RUNS_A_SETTING_ONE = 5;
const TEXTS = ["7d", "20d", "365d", "400d", "1y", "10y", "forever"];

/** What is drawn is drawn apart, so that other runs are what they were. */
export function createRunRetention(seed: number): RunRetention {
  const draws = createDraws(-seed);
  const isSet = seed % RUNS_A_SETTING_ONE === 2;
  let inForce: Retention = DEFAULT_RETENTION;
  return {
    get text() {
      return inForce.text;
    },
    startMs: (nowMs) => inForce.startMs(nowMs),
    turn() {
      if (!isSet || !draws.chance(0.4)) return null;
      const parsed = FixedRetention.parse(draws.pick(TEXTS));
      if (!parsed.ok) throw new Error(parsed.error);
      inForce = parsed.value;
      return `the retention is set to ${inForce.text}`;
    },
  };
}
