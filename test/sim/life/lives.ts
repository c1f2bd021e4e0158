import { openLifeEngine } from "./engine.ts";
import { type LivedLife, live } from "./life.ts";
import { addTotals, type LifeTotals, noTotals } from "./outcome.ts";

export interface LivesOptions {
  readonly from: number;
  readonly count: number;
  /** Told after each life, by its number and with the sums so far. */
  onLife?(seed: number, totals: LifeTotals): void;
}

/** DuckDB remembers a little of every file that it ever read, so it is opened anew now and then. */
const LIVES_AN_ENGINE = 500;

/** Lives one life after another; throws the `LifeFailure` of the first that goes wrong. */
export async function liveMany({ from, count, onLife = () => {} }: LivesOptions): Promise<LifeTotals> {
  const sum = noTotals();
  for (let first = from; first < from + count; first += LIVES_AN_ENGINE) {
    const engine = await openLifeEngine();
    try {
      for (let seed = first; seed < Math.min(first + LIVES_AN_ENGINE, from + count); seed++) {
        const { totals } = await live({ seed, engine });
        addTotals(sum, totals);
        onLife(seed, sum);
      }
    } finally {
      engine.close();
    }
  }
  return sum;
}

/** Lives one life; throws its `LifeFailure`. */
export async function liveOne(seed: number): Promise<LivedLife> {
  const engine = await openLifeEngine();
  try {
    return await live({ seed, engine });
  } finally {
    engine.close();
  }
}
