import { describe, expect, test } from "bun:test";
import { parseFuzzCommand } from "./support/command-line.ts";
import { readCorpus, readFound } from "./support/corpus.ts";
import type { Coverage } from "./support/coverage.ts";
import { fuzz } from "./support/fuzz.ts";
import type { Target } from "./support/target.ts";
import { TARGETS } from "./targets.ts";

/** What the fuzzer has found and kept is run by every test, on Bun as the fuzzer itself runs on Deno. */

describe.each(TARGETS.map((target) => [target.name, target] as const))("%s", (_, target) => {
  test("holds for every input that was kept or found", async () => {
    for (const input of [...target.seeds(), ...readCorpus(target), ...readFound(target)])
      await target.check(input);
  });
});

/** Everything that has not run yet is new: an input for each byte that it begins with. */
function byFirstByte(): Coverage & { last: number } {
  const seen = new Set<string>();
  return {
    last: -1,
    async take() {
      return new Map([[`${this.last}`, new Set<string>()]]);
    },
    countNew: (taken) => [...taken.keys()].filter((name) => !seen.has(name)).length,
    add(taken) {
      const before = seen.size;
      for (const name of taken.keys()) seen.add(name);
      return seen.size - before;
    },
    clear: () => seen.clear(),
  };
}

test("fuzz() finds a failure behind what coverage leads to, and makes its input small", async () => {
  const coverage = byFirstByte();
  const target: Target = {
    name: "toy",
    bytesMax: 64,
    seeds: () => [Uint8Array.of(1, 2, 3)],
    check(input) {
      coverage.last = input[0] ?? -1;
      if (input[0] === 200 && input.includes(7)) throw new Error("planted");
    },
  };
  const { failure, kept } = await fuzz(target, { seed: 1, timeMs: 30_000, coverage, corpus: [] });
  expect(failure?.fault).toContain("planted");
  expect([...failure!.input]).toEqual([200, 7]);
  expect(kept.length).toBeGreaterThan(0);
});

test("a command line names what is to be attacked, and for how long", () => {
  const names = ["csv", "keys"];
  expect(parseFuzzCommand(["--seconds", "5", "--seed", "3", "--target", "csv"], names, 0)).toEqual({
    ok: true,
    value: { kind: "fuzz", seconds: 5, seed: 3, target: "csv", keep: false },
  });
  for (const args of [["--seconds", "0"], ["--target", "none"], ["csv"], ["--sed", "1"]]) {
    expect(parseFuzzCommand(args, names, 0)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/\.$/),
    });
  }
});
