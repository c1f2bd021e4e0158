import { expect, test } from "bun:test";
import {
  createProgressBar,
  createStepBars,
  formatSeconds,
  progressLine,
} from "../../../../src/cli/screen/progress-bar.ts";
import * as fc from "../../../support/fast-check.ts";

test("progressLine() says how far, how fast and how long", () => {
  const progress = { done: 25, total: 100, count: 5000 };
  expect(progressLine("Importing", progress, 2000, 80)).toBe(
    "Importing [########----------------------] 25%  2,500/s  6 s left",
  );
  expect(progressLine("Importing", progress, 2000, 40)).toBe("Importing  25%  2,500/s  6 s left");
  expect(progressLine("Reading", { done: 0, total: 100, count: null }, 0, 80)).toBe(
    `Reading [${"-".repeat(30)}]  0%`,
  );
  expect(progressLine("Importing", { done: 9, total: null, count: 5000 }, 2000, 80)).toBe(
    "Importing 5,000  2,500/s",
  );
});

test("progressLine() never fills the last column, where a terminal would wrap", () => {
  fc.assert(
    fc.property(
      fc.nat(1e9),
      fc.option(fc.nat(1e9)),
      fc.option(fc.nat(1e9)),
      fc.nat(1e7),
      fc.nat(200),
      (done, total, count, ms, columns) => {
        const line = progressLine("Finding the newest report", { done, total, count }, ms, columns);
        expect(line.length).toBeLessThanOrEqual(Math.max(0, columns - 1));
      },
    ),
  );
});

test("formatSeconds() is short at every scale", () => {
  expect([0.2, 59, 60, 185, 3600, 7620].map(formatSeconds)).toEqual([
    "1 s",
    "59 s",
    "1 min 00 s",
    "3 min 05 s",
    "1 h 00 min",
    "2 h 07 min",
  ]);
});

test("createProgressBar() writes nothing where no person watches", () => {
  const written: string[] = [];
  const terminal = { redraw: (line: string) => void written.push(line), errorIsTerminal: false };
  const bar = createProgressBar("Importing", terminal);
  bar.show({ done: 1, total: 2, count: 1 });
  bar.clear();
  expect(written).toEqual([]);
});

test("createProgressBar() redraws ten times a second at most, and leaves nothing behind", () => {
  let nowMs = 0;
  const written: string[] = [];
  const bar = createProgressBar(
    "Importing",
    { redraw: (line) => void written.push(line), errorIsTerminal: true },
    () => nowMs,
    () => 60,
  );
  for (let step = 0; step < 1000; step++) {
    nowMs = step;
    bar.show({ done: step, total: 1000, count: step });
  }
  expect(written.length).toBe(10);
  expect(written.every((line) => line.startsWith("Importing"))).toBe(true);
  bar.clear();
  expect(written.at(-1)).toBe("");
  bar.clear();
  expect(written.length).toBe(11);
});

test("where nobody watches a bar a line comes every ten seconds, with bytes, rate and time left", () => {
  const said: string[] = [];
  let nowMs = 5000;
  const terminal = {
    error: (text: string) => void said.push(text),
    errorIsTerminal: false,
    redraw: () => said.push("a bar"),
  };
  const bars = createStepBars(terminal, () => nowMs);
  for (let second = 0; second <= 30; second++, nowMs += 1000)
    bars.show("Importing", { done: second * 10, total: 1000, count: second * 1234 });
  bars.show("Archiving", { done: 1, total: 2, count: null });
  expect(said).toEqual([
    "Importing  10%  1,234/s  1 min 30 s left\n",
    "Importing  20%  1,234/s  1 min 20 s left\n",
    "Importing  30%  1,234/s  1 min 10 s left\n",
  ]);
});
