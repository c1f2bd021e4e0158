import { expect, test } from "bun:test";
import { createKeyText } from "../../../src/auth/api-key.ts";
import { createKeys } from "../../system/security/support/key-guesses.ts";

/*
 * Goal: how long a refusal takes says nothing of how much of a key was right. Method: guesses that share more or less
 * with a real key take the same time, on a machine that has nothing else to do.
 */

const KEYS = 50;
const ROUNDS = 400;
const LOOKUPS = 50; // Of each kind in a round: kinds take turns, so that what else the machine does falls on all.
/** A comparison that stopped at the first difference would differ by far less; a hash left out, by far more. */
const MEDIAN_RATIO_MAX = 1.5;

const { store, texts } = await createKeys(KEYS);

test("a wrong guess takes as long whether it shares all but one character with a key, or none", () => {
  const guesses: Readonly<Record<string, readonly string[]>> = {
    known: texts,
    lastWrong: texts.map((text) => text.slice(0, -1) + other(text.at(-1)!)),
    firstWrong: texts.map((text) => `wh_${other(text[3]!)}${text.slice(4)}`),
    random: texts.map(() => createKeyText()),
  };
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(guesses).map((kind) => [kind, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [kind, candidates] of Object.entries(guesses)) {
      const startedMs = performance.now();
      for (let i = 0; i < LOOKUPS; i++) store.find(candidates[(round + i) % KEYS]!);
      times[kind]!.push(performance.now() - startedMs);
    }
  }
  const medians = Object.values(times).map((each) => each.toSorted((a, b) => a - b)[ROUNDS / 2]!);
  expect(Math.max(...medians) / Math.min(...medians), JSON.stringify(medians)).toBeLessThan(MEDIAN_RATIO_MAX);
});

function other(character: string): string {
  return character === "0" ? "1" : "0";
}
