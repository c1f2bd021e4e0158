import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createKeyText } from "../../../src/auth/api-key.ts";
import { openKeyStore } from "../../../src/auth/key-store.ts";
import { UNBOUND } from "../../../src/model/binding.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { createManualClock } from "../../../src/time/clock.ts";
import { createMemoryKeyFiles, createMemoryLock } from "../../auth/memory-key-files.ts";

/*
 * Goal: how long a refusal takes says nothing of how much of a key was right. Method: a key is hashed whole before
 * anything is compared, and only hashes are; guesses that share more or less with a real key take the same time.
 */

const KEYS = 50;
const ROUNDS = 400;
const LOOKUPS = 50; // Of each kind in a round: kinds take turns, so that what else the machine does falls on all.
/** A comparison that stopped at the first difference would differ by far less; a hash left out, by far more. */
const MEDIAN_RATIO_MAX = 1.5;

const store = await openKeyStore({
  files: createMemoryKeyFiles(),
  path: "/data/keys.json",
  clock: createManualClock(0),
  acquireLock: createMemoryLock(),
  process: { pid: 1, command: "test" },
});
const texts: string[] = [];
for (let i = 0; i < KEYS; i++) {
  const created = await store.create({
    appId: "fleet" as AppId,
    permissions: ["read"],
    view: null,
    tier: "unlimited",
    label: "",
    ...UNBOUND,
    expiresMs: null,
  });
  if (created.ok) texts.push(created.value.text);
}

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

test("find() hashes before it compares, and looks up by the hash alone", () => {
  const source = readFileSync(join(import.meta.dir, "../../../src/auth/key-store.ts"), "utf8");
  const uses = source.split("\n").filter((line) => line.includes("keyText"));
  expect(uses.map((line) => line.trim())).toEqual([
    "find(keyText: string): KeyLookup;",
    "find: (keyText) => lookUp(file.value.byHash.get(hashKey(keyText))),",
  ]);
});

test("what is kept of a key is a hash, which opens nothing itself", () => {
  for (const [index, { sha256, lastFour, ...rest }] of store.list().entries()) {
    const text = texts[index]!;
    expect(sha256).toBe(createHash("sha256").update(text).digest("hex"));
    expect(text.endsWith(lastFour)).toBeTrue();
    expect(JSON.stringify(rest)).not.toContain(text.slice(3, 12));
    for (const guess of [sha256, sha256.toUpperCase(), `wh_${sha256}`])
      expect(store.find(guess).kind).toBe("unknown");
  }
});
