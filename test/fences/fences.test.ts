import { expect, test } from "bun:test";
import { seededRandom } from "../support/seeded-random.ts";
import { parseFencesCommand } from "./command-line.ts";
import type { DegradedJourney } from "./degrade.ts";
import { parseEvents } from "./exchange.ts";
import { OURS, RULES } from "./rules.ts";
import { scoreOf } from "./score.ts";
import { createJourneys, scoreRules } from "./suite.ts";

const SMALL = { journeys: 6, days: 1, seed: 1 };

test("the fence suite: ours misses none and makes no false event, while each of the others does", () => {
  const scores = scoreRules(createJourneys(SMALL));
  const { expected } = scores.get(OURS)!;
  expect(expected).toBeGreaterThan(40);
  expect(scores.get(OURS)).toEqual({ expected, missed: 0, false: 0 });
  for (const [name, { missed, false: falseCount }] of scores)
    if (name !== OURS) expect([name, missed + falseCount > expected / 2]).toEqual([name, true]);
});

test("the fence suite: ours makes the same events in any order and any batches", () => {
  const random = seededRandom(1);
  const ours = RULES.get(OURS)!;
  for (const journey of createJourneys({ ...SMALL, journeys: 2 })) {
    const events = ours(journey);
    const reports = journey.batches.flat();
    const shuffled = reports.map((report) => ({ report, key: random() })).sort((a, b) => a.key - b.key);
    const batches = shuffled.map(({ report }) => [report]);
    for (const other of [
      { ...journey, batches },
      { ...journey, batches: [reports, reports] },
    ] satisfies DegradedJourney[])
      expect(ours(other)).toEqual(events);
  }
});

test("scoreOf() gives each expected event one event of its kind and time", () => {
  const enter = { kind: "enter", timestamp: 10, earliest: 5, latest: 15 } as const;
  const score = (...times: number[]) =>
    scoreOf(
      [enter],
      times.map((timestamp) => ({ kind: "enter", timestamp })),
    );
  expect(score(5)).toEqual({ expected: 1, missed: 0, false: 0 });
  expect(score(16)).toEqual({ expected: 1, missed: 1, false: 1 });
  expect(score(6, 7)).toEqual({ expected: 1, missed: 0, false: 1 });
  expect(scoreOf([enter], [{ kind: "exit", timestamp: 10 }])).toEqual({ expected: 1, missed: 1, false: 1 });
});

test("parseEvents() reads lines of another program, and names the line that is no event", () => {
  const line = '{"device_id":"journey-1","kind":"enter","timestamp":5,"more":1}';
  expect(parseEvents(`${line}\n`)).toEqual({
    ok: true,
    value: new Map([["journey-1", [{ kind: "enter", timestamp: 5 }]]]),
  });
  expect(parseEvents(`${line}\n{"device_id":"journey-1"}`)).toEqual({
    ok: false,
    error: "Line 2 is no event.",
  });
  expect(parseEvents("null")).toEqual({ ok: false, error: "Line 1 is no event." });
});

test("parseFencesCommand() has defaults, and refuses what it does not know", () => {
  const size = { journeys: 100, days: 2, seed: 1 };
  expect(parseFencesCommand([])).toEqual({
    ok: true,
    value: { kind: "run", size, write: null, score: null },
  });
  expect(parseFencesCommand(["--help"])).toEqual({ ok: true, value: { kind: "help" } });
  for (const args of [["--seed", "x"], ["more"], ["--unknown"], ["--write", "a", "--score", "b"]])
    expect(parseFencesCommand(args)).toMatchObject({ ok: false });
});
