import { expect, test } from "bun:test";
import { seededRandom } from "../../support/seeded-random.ts";
import { createPicker } from "../support/random.ts";
import { parseClusterCommand } from "./run/command-line.ts";
import { drawKinds, FAULTS } from "./run/faults.ts";

const parsed = (words: string) => parseClusterCommand(words === "" ? [] : words.split(" "), 1_234_567);

test("parseClusterCommand() asks for one round where nothing is said", () => {
  const value = { kind: "run", rounds: 1, seed: 234_568, keep: false, save: null } as const;
  expect(parsed("")).toEqual({ ok: true, value });
  const more = { ...value, rounds: 200, seed: 3, keep: true, save: "a.json" };
  expect(parsed("--rounds 200 --seed 3 --keep --save a.json")).toEqual({ ok: true, value: more });
  expect(parsed("--help")).toEqual({ ok: true, value: { kind: "help" } });
});

test("parseClusterCommand() refuses in one line what it can't do", () => {
  for (const [words, error] of [
    ["--rounds many", /^--rounds takes a whole number/],
    ["--seed 0", /^--seed takes a whole number/],
    ["now", /^Unexpected argument "now"\. See --help\.$/],
    ["--fast", /^Unknown option --fast\. See --help\.$/],
  ] as const)
    expect(parsed(words)).toEqual({ ok: false, error: expect.stringMatching(error) });
});

test("drawKinds() has every kind about as often, and the same ones for the same seed", () => {
  const draw = (rounds: number) => drawKinds(rounds, createPicker(seededRandom(5)));
  expect(draw(1)).toEqual(["leader and node killed"]);
  const kinds = draw(130);
  expect(kinds).toEqual(draw(130));
  for (const kind of FAULTS)
    expect(kinds.filter((each) => each === kind)).toHaveLength(
      kind === "leader killed" || kind === "node killed" ? 20 : 10,
    );
});
