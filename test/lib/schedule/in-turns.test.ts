import { expect, test } from "bun:test";
import { inTurns, type Steps } from "../../../src/lib/schedule/in-turns.ts";

const PATIENT = new AbortController().signal;

/** Work of so many milliseconds, which notes when it has its turn. */
function* work(ms: number, name: string, turns: string[] = []): Steps<string> {
  const step = 0.5;
  for (let done = 0; done < ms; done += step) {
    const endMs = performance.now() + step;
    while (performance.now() < endMs);
    if (turns.at(-1) !== name) turns.push(name);
    yield;
  }
  return name;
}

test("inTurns() does short work at once", () => {
  expect(inTurns("app", PATIENT, work(0, "short"))).toBe("short");
});

test("inTurns() lets others have their turn while long work goes on", async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  expect(await inTurns("app", PATIENT, work(60, "long"))).toBe("long");
  isOver = true;
  expect(turns).toBeGreaterThan(5);
});

test("inTurns() takes owners in turns, however much work one of them has", async () => {
  const turns: string[] = [];
  const all = [
    ...Array.from({ length: 6 }, (_, index) => inTurns("busy", PATIENT, work(20, `busy ${index}`, turns))),
    inTurns("calm", PATIENT, work(20, "calm", turns)),
  ];
  await Promise.all(all);
  const calmEnd = turns.lastIndexOf("calm");
  const busyAfter = turns.slice(calmEnd + 1).filter((name) => name.startsWith("busy"));
  expect(busyAfter.length).toBeGreaterThan(6); // Most of theirs came after all of its.
});

test("inTurns() gives up work that nobody waits for, and hands on what it throws", async () => {
  const gone = new AbortController();
  let isReturned = false;
  const given = inTurns(
    "app",
    gone.signal,
    (function* (): Steps<void> {
      try {
        yield* work(1000, "given up");
      } finally {
        isReturned = true;
      }
    })(),
  );
  gone.abort();
  expect(given).rejects.toThrow("abort");
  await Bun.sleep(0);
  expect(isReturned).toBe(true);
  const failing = (function* (): Steps<void> {
    yield* work(20, "failing");
    throw new Error("no");
  })();
  expect(inTurns("app", PATIENT, failing)).rejects.toThrow("no");
  const failingAtOnce = (function* (): Steps<void> {
    throw new Error("at once");
    // biome-ignore lint/correctness/noUnreachable: a generator has to have one.
    yield;
  })();
  expect(() => inTurns("app", PATIENT, failingAtOnce)).toThrow("at once");
});
