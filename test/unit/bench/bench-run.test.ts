import { expect, test } from "bun:test";
import type { BenchRun } from "../../../bench/support/run/bench.ts";
import { runBench } from "../../../bench/support/run/bench-run.ts";
import { outcome } from "../../support/rejection.ts";

/** Runs a bench of one size, whose flag may be given. */
async function tell(work: (run: BenchRun) => void, given: readonly [string, number][] = [], isSmoke = false) {
  const lines: string[] = [];
  const kept = await runBench({
    bench: {
      question: "does it work?",
      sizes: { devices: { help: "how many", smoke: 3, full: 500 } },
      run: async (run) => work(run),
    },
    isSmoke,
    given: new Map(given),
    print: (line) => lines.push(line),
  });
  return { lines, kept };
}

const OURS = { name: "ours", unit: "ms", runs: [30, 10, 20] };
const CONTROL = { name: "the control", unit: "ms", runs: [10, 10, 5] };

test("runBench() gives the size of the run, or the flag's, and keeps it", async () => {
  const sizes: number[] = [];
  const work = (run: BenchRun) => void sizes.push(run.size("devices"));
  const kept = [
    await tell(work),
    await tell(work, [], true),
    await tell(work, [
      ["devices", 7],
      ["other", 1],
    ]),
  ];
  expect(sizes).toEqual([500, 3, 7]);
  expect(kept.map(({ kept }) => kept.sizes)).toEqual([{ devices: 500 }, { devices: 3 }, { devices: 7 }]);
  expect(await outcome(tell((run) => run.size("seed")))).toThrow('"seed" is among the bench\'s sizes');
});

test("runBench() gives the parts that were chosen, in the order of the bench, else those of the run", async () => {
  const parts: (readonly string[])[] = [];
  const bench = {
    question: "does it work?",
    sizes: {},
    choices: { part: { help: "of it", values: ["first", "second", "third"], smoke: ["second"] } },
    run: async (run: BenchRun) => void parts.push(run.chosen("part")),
  };
  const common = { bench, given: new Map(), print: () => {} };
  await runBench({ ...common, isSmoke: false });
  await runBench({ ...common, isSmoke: true });
  await runBench({ ...common, isSmoke: true, chosen: new Map([["part", ["third", "first"]]]) });
  expect(parts).toEqual([["first", "second", "third"], ["second"], ["first", "third"]]);
});

test("runBench() prints figures aligned, with their spread", async () => {
  const { lines, kept } = await tell((run) =>
    run.figures([OURS, CONTROL, { ...OURS, name: "one", runs: [4] }]),
  );
  expect(lines).toEqual([
    "  ours         20 ms  (min 10, max 30, 3 runs)",
    "  the control  10 ms  (min 5, max 10, 3 runs)",
    "  one          4 ms  (1 run)",
  ]);
  expect(kept.figures.map(({ name }) => name)).toEqual(["ours", "the control", "one"]);
});

test("runBench() takes the median of the ratios run by run, and judges it", async () => {
  const ratios: number[] = [];
  const { lines, kept } = await tell((run) => {
    ratios.push(run.ratio("times", OURS, CONTROL)); // 3, 1 and 4: of the medians it would be 2.
    run.ratio("high enough", OURS, CONTROL, { atLeast: 3 });
    run.ratio("low enough", OURS, CONTROL, { atMost: 2.5 });
  });
  expect(ratios).toEqual([3]);
  expect(lines).toEqual([
    "  times: 3",
    "  high enough: 3 (wanted: at least 3; reached)",
    "  low enough: 3 (wanted: at most 2.5; missed)",
  ]);
  expect(kept.ratios[0]).toEqual({
    name: "times",
    ours: "ours",
    control: "the control",
    unit: "ms",
    runs: [3, 1, 4],
  });
  expect(kept.ratios.map(({ isReached }) => isReached)).toEqual([undefined, true, false]);
});

test("runBench() keeps verdicts, notes and attachments", async () => {
  const { lines, kept } = await tell((run) => {
    run.verdict("start", 1, "s", { atLeast: 0.1, atMost: 1 });
    run.verdict("size", 5000, "bytes");
    run.note("it rained");
    run.attach(".svg", "<svg/>");
  });
  expect(lines).toEqual([
    "  start: 1 s (wanted: at least 0.1 and at most 1; reached)",
    "  size: 5,000 bytes",
    "  it rained",
  ]);
  expect(kept.verdicts).toEqual([
    { name: "start", value: 1, unit: "s", bound: { atLeast: 0.1, atMost: 1 }, isReached: true },
    { name: "size", value: 5000, unit: "bytes" },
  ]);
  expect(kept.notes).toEqual(["it rained"]);
  expect([...kept.attachments]).toEqual([[".svg", "<svg/>"]]);
});

test("runBench() stops at figures that a later run could not be compared with", async () => {
  const twice = (run: BenchRun) => run.figures([OURS, OURS]);
  expect(await outcome(tell(twice))).toThrow('"ours" is given once');
  for (const runs of [[], [Number.NaN], [1, Number.POSITIVE_INFINITY]]) {
    expect(await outcome(tell((run) => run.figures([{ ...OURS, runs }])))).toThrow('"ours" was measured');
  }
  const short = { ...CONTROL, runs: [1] };
  expect(await outcome(tell((run) => void run.ratio("times", OURS, short)))).toThrow("a value each run");
  const otherUnit = { ...CONTROL, unit: "s" };
  expect(await outcome(tell((run) => void run.ratio("times", OURS, otherUnit)))).toThrow("one unit");
});
