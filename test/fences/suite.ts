import { seededRandom } from "../support/seeded-random.ts";
import { type DegradedJourney, degrade } from "./degrade.ts";
import { createJourney } from "./journey.ts";
import { RULES } from "./rules.ts";
import { addScores, NO_SCORE, type Score, scoreOf } from "./score.ts";

export interface SuiteSize {
  readonly journeys: number;
  readonly days: number;
  readonly seed: number;
}

/** The journeys of a seed. The first ones are the same for any count. */
export function* createJourneys({ journeys, days, seed }: SuiteSize): Generator<DegradedJourney> {
  for (let index = 0; index < journeys; index++) {
    const random = seededRandom(seed * 100_003 + index);
    yield degrade(createJourney(random, days), random);
  }
}

/** The scores of all rules, by name. */
export function scoreRules(journeys: Iterable<DegradedJourney>): Map<string, Score> {
  const scores = new Map([...RULES.keys()].map((name) => [name, NO_SCORE]));
  for (const journey of journeys)
    for (const [name, rule] of RULES)
      scores.set(name, addScores(scores.get(name)!, scoreOf(journey.expected, rule(journey))));
  return scores;
}
