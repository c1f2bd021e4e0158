import { describe, expect, test } from "bun:test";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { inOneStep, type Steps } from "../../../../src/lib/schedule/steps.ts";
import * as fc from "../../../support/fast-check.ts";
import { outcome } from "../../../support/rejection.ts";

const PATIENT = new AbortController().signal;
const TURN_MS = 5;

/** Time passes with steps alone. */
function createFixture(stepMs = 2) {
  let nowMs = 0;
  const log: string[] = [];
  function* steps(name: string, count: number, ofEachMs = stepMs): Steps<string> {
    for (let step = 1; step <= count; step++) {
      log.push(`${name}${step}`);
      nowMs += ofEachMs;
      if (step < count) yield;
    }
    return name;
  }
  return { scheduler: new Scheduler(() => nowMs), steps, log };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe("Scheduler.run()", () => {
  test("does what is short at once, and gives its value", async () => {
    const { scheduler, steps, log } = createFixture();
    const done = scheduler.run("a", steps("a", 2));
    expect(log).toEqual(["a1", "a2"]);
    expect(await done).toBe("a");
  });

  test("takes no more than its time of a turn of the event loop", async () => {
    const { scheduler, steps, log } = createFixture();
    const done = scheduler.run("a", steps("a", 7));
    expect(log.length).toBe(3); // 6 ms: the third began before 5 were over.
    await nextTurn();
    expect(log.length).toBe(6);
    await done;
    expect(log.length).toBe(7);
  });

  test("many short pieces share that time too", async () => {
    const { scheduler, steps, log } = createFixture();
    const all = Array.from({ length: 6 }, (_, index) => scheduler.run("a", steps(`${index}.`, 1)));
    expect(log.length).toBe(3);
    await Promise.all(all);
    expect(log).toEqual(["0.1", "1.1", "2.1", "3.1", "4.1", "5.1"]);
  });

  test("gives owners their steps in turns, however much one of them has to do", async () => {
    const { scheduler, steps, log } = createFixture();
    const greedy = Array.from({ length: 50 }, (_, index) => scheduler.run("greedy", steps(`g${index}.`, 20)));
    const modest = scheduler.run("modest", steps("m", 3));
    await modest;
    const behind = log.indexOf("m3");
    expect(behind).toBeLessThan(10);
    await Promise.all(greedy);
    expect(log.length).toBe(50 * 20 + 3);
  });

  test("gives owners as much time, however short the steps of one of them are", async () => {
    const short = createFixture(0.1);
    const all = [
      short.scheduler.run("long", short.steps("long", 1000)),
      short.scheduler.run("short", short.steps("short", 60)),
    ];
    await Promise.all(all);
    const last = short.log.lastIndexOf("short60");
    expect(last).toBeLessThan(60 + 60 + 2 * (TURN_MS / 0.1)); // A slice of the other's for each of its own, and a turn.
  });

  test("gives owners as much time, however short the pieces of work of one of them are", async () => {
    const { scheduler, steps, log } = createFixture(1);
    const long = ["a", "b", "c"].map((owner) => scheduler.run(owner, steps(owner, 100)));
    const short = Array.from({ length: 100 }, (_, index) =>
      scheduler.run("short", steps(`s${index}.`, 1, 0.01)),
    );
    await Promise.all(short);
    expect(log.filter((name) => !name.startsWith("s")).length).toBeLessThan(20); // All of it is half a slice.
    await Promise.all(long);
  });

  test("the time of a step that throws is of the turn too", async () => {
    const { scheduler, steps, log } = createFixture();
    const failing = (function* (): Steps<string> {
      yield* steps("failing", 2);
      throw new Error("no");
    })();
    expect(await outcome(scheduler.run("a", failing))).toThrow("no");
    const next = scheduler.run("a", steps("next", 2));
    expect(log).toEqual(["failing1", "failing2", "next1"]);
    await next;
  });

  test("ends single steps of an owner in their order", async () => {
    const { scheduler } = createFixture();
    const log: number[] = [];
    const busy = scheduler.run("other", createFixture().steps("x", 1));
    await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        scheduler.run(
          "a",
          inOneStep(() => log.push(index)),
        ),
      ),
    );
    await busy;
    expect(log).toEqual([...log].sort((a, b) => a - b));
    expect(log.length).toBe(100);
  });

  test("a step that throws ends its own work and no other's", async () => {
    const { scheduler, steps } = createFixture();
    const others = [scheduler.run("a", steps("a", 9)), scheduler.run("b", steps("b", 9))];
    const failing = (function* (): Steps<void> {
      yield;
      throw new Error("no");
    })();
    expect(await outcome(scheduler.run("c", failing))).toThrow("no");
    expect(await Promise.all(others)).toEqual(["a", "b"]);
  });
});

describe("Scheduler.runAtOnce()", () => {
  test("does short work at once, whoever waits", async () => {
    const { scheduler, steps, log } = createFixture(0.1);
    expect(scheduler.runAtOnce("app", PATIENT, steps("short", 1))).toBe("short");
    const long = scheduler.run("other", steps("long", 100));
    expect(scheduler.runAtOnce("app", PATIENT, steps("next", 1))).toBe("next");
    expect(log).not.toContain("long100");
    await long;
  });

  test("lets others have their turn while long work goes on", async () => {
    const { scheduler, steps, log } = createFixture(0.5);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    expect(await scheduler.runAtOnce("app", PATIENT, steps("long", 120))).toBe("long");
    isOver = true;
    expect(turns).toBeGreaterThan(5);
    expect(log.length).toBe(120);
  });

  test("takes owners in turns, however much work one of them has", async () => {
    const { scheduler, steps, log } = createFixture(0.5);
    const all = [
      ...Array.from({ length: 6 }, () => scheduler.runAtOnce("busy", PATIENT, steps("busy", 40))),
      scheduler.runAtOnce("calm", PATIENT, steps("calm", 40)),
    ];
    await Promise.all(all);
    const busyAfter = log.slice(log.indexOf("calm40")).filter((name) => name.startsWith("busy"));
    expect(busyAfter.length).toBeGreaterThan(100); // Most of theirs came after all of its.
  });

  test("gives up work that nobody waits for, and lets it tidy up", async () => {
    const { scheduler, steps, log } = createFixture();
    const gone = new AbortController();
    let isReturned = false;
    const given = scheduler.runAtOnce(
      "app",
      gone.signal,
      (function* (): Steps<void> {
        try {
          yield* steps("given up", 1000);
        } finally {
          isReturned = true;
        }
      })(),
    );
    gone.abort();
    expect(await outcome(given)).toThrow("abort");
    await nextTurn();
    expect(isReturned).toBe(true);
    expect(log.length).toBe(3);
  });

  test("hands on what work throws, at once or later", async () => {
    const { scheduler, steps } = createFixture();
    const failing = (function* (): Steps<void> {
      yield* steps("failing", 20);
      throw new Error("no");
    })();
    expect(await outcome(scheduler.runAtOnce("app", PATIENT, failing))).toThrow("no");
    const failingAtOnce = (function* (): Steps<void> {
      throw new Error("at once");
      // biome-ignore lint/correctness/noUnreachable: a generator has to have one.
      yield;
    })();
    expect(() => scheduler.runAtOnce("app", PATIENT, failingAtOnce)).toThrow("at once");
  });

  test("makes a value lasting in the turn it was made in, where it is promised", async () => {
    const { scheduler, steps } = createFixture();
    const lasting = (value: string) => `${value}, lasting`;
    expect(scheduler.runAtOnce("app", PATIENT, steps("short", 2), lasting)).toBe("short");
    expect(await scheduler.runAtOnce("app", PATIENT, steps("long", 9), lasting)).toBe("long, lasting");
  });
});

test("Scheduler does all of any work, no more in a turn than its time and a step of each that came in it", async () => {
  const piece = fc.record({
    owner: fc.constantFrom("a", "b", "c"),
    steps: fc.integer({ min: 1, max: 12 }),
    stepMs: fc.integer({ min: 1, max: 4 }),
    isAtOnce: fc.boolean(),
    comesInTurn: fc.nat(4),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 12 }), async (pieces) => {
      let [nowMs, turnStartMs, longestMs] = [0, 0, 0];
      const scheduler = new Scheduler(() => nowMs);
      const begun: number[] = [];
      const ended: number[] = [];
      function* work(index: number): Steps<number> {
        const { steps, stepMs } = pieces[index]!;
        begun.push(index);
        for (let step = 1; step <= steps; step++) {
          nowMs += stepMs;
          longestMs = Math.max(longestMs, nowMs - turnStartMs);
          if (step < steps) yield;
        }
        ended.push(index);
        return index;
      }
      let isOver = false;
      const tick = () => {
        turnStartMs = nowMs;
        if (!isOver) setImmediate(tick);
      };
      tick();
      const promised: (number | Promise<number>)[] = [];
      for (let turn = 0; turn <= 4; turn++) {
        for (const [index, { owner, isAtOnce, comesInTurn }] of pieces.entries()) {
          if (comesInTurn !== turn) continue;
          promised[index] = isAtOnce
            ? scheduler.runAtOnce(owner, PATIENT, work(index))
            : scheduler.run(owner, work(index));
        }
        await nextTurn();
      }
      expect(await Promise.all(promised)).toEqual(pieces.map((_, index) => index));
      expect(ended.toSorted((a, b) => a - b)).toEqual(pieces.map((_, index) => index));
      for (const owner of ["a", "b", "c"]) {
        const isQueued = (index: number) => pieces[index]!.owner === owner && !pieces[index]!.isAtOnce;
        const inOrder = pieces
          .map((_, index) => index)
          .filter(isQueued)
          .toSorted((x, y) => pieces[x]!.comesInTurn - pieces[y]!.comesInTurn || x - y);
        expect(begun.filter(isQueued)).toEqual(inOrder);
      }
      const stepMsMax = Math.max(...pieces.map(({ stepMs }) => stepMs));
      // Between two ticks come what is asked for anew, and a turn of what waits.
      expect(longestMs).toBeLessThanOrEqual(2 * (TURN_MS + stepMsMax) + pieces.length * stepMsMax);
      await nextTurn();
      await nextTurn();
      isOver = true;
      const before = ended.length;
      expect(scheduler.runAtOnce("d", PATIENT, work(0))).toBeDefined(); // Nothing was left behind: it begins at once.
      expect(begun.length).toBe(before + 1);
    }),
    { numRuns: 200 },
  );
});
