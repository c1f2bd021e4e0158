import { assert } from "../../../../src/lib/assert.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

/** Everything random of a run, all of it from its seed. */
export interface Draws {
  /** From 0 to below 1. */
  next(): number;
  chance(probability: number): boolean;
  /** A whole number; both bounds are included. */
  between(least: number, most: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** One of the names, each as often as its weight says. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

export function createDraws(seed: number): Draws {
  const next = seededRandom(Math.imul(seed, 2_654_435_761)); // Neighbouring seeds share no beginning.
  const draws: Draws = {
    next,
    chance: (probability) => next() < probability,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    pick(items) {
      assert(items.length > 0, "there is something to pick from");
      return items[draws.between(0, items.length - 1)]!;
    },
    weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
      const entries = Object.entries(weights) as [Name, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return entries.at(-1)![0];
    },
  };
  return draws;
}
