import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/*
 * `npm run check` calls it: a test that sleeps until something should have happened, or judges how long something took,
 * fails by chance on a busy machine. Names each bare timer, sleep and measured time in `test/`, and each promise that
 * `expect()` would wait for.
 */

/** The helpers that others wait by, and the few places that need a timer of their own, with the reason. */
const TIMERS_ALLOWED: Readonly<Record<string, string>> = {
  "test/support/until.ts": "polls for a state",
  "test/support/hang-guard.ts": "ends a wait that hangs",
  "test/system/support/pause.ts": "the time is the input of the test",
  "test/system/cli/support/print-memory.ts": "samples the memory of a program that runs",
  "test/system/launch/launch.test.ts": "its text is a launcher that stands still as on a busy machine",
};

/** These compare two times of the same run with one another. */
const TIMES_ALLOWED: ReadonlySet<string> = new Set([
  "test/system/security/slow-texts.test.ts",
  "test/system/security/device-timing.test.ts",
  "test/long/security/key-timing.test.ts",
]);

const TIMER =
  /\b(setTimeout|setInterval|Bun\.sleep|Bun\.sleepSync|scheduler\.wait|Atomics\.wait)\(|timers\/promises["']|schedule\/wait\.ts["']/;
/** Keeps a process alive, and nothing waits for it. */
const KEEP_ALIVE = /setInterval\(\(\) => \{\}, \d+\)/g;
const MEASURED = /\bperformance\.now\(\)/;
/** `expect()` sleeps until the next timer while it waits for such a promise (`test/support/rejection.ts`). */
const PENDING = /\.(rejects|resolves)\b/;
const COMMENT = /^\s*(\/\/|\/\*|\*)/;

const USE_HELPERS =
  "await the event itself, or until(isSo) and turns() of test/support, or drive the code's timers and clock; " +
  "pause(ms) of test/system/support is for a time that is the input of the test";
const AWAIT_FIRST = "await the promise first, by outcome() or rejection() of test/support/rejection.ts";
const COUNT_WORK =
  "count work (steps, turns, bytes), or compare two sizes in the same run in test/system/security";

/** What is wrong in a file, a line each: place, what it is, and what to do instead. */
export function findSleeps(path: string, text: string): string[] {
  const faults: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (COMMENT.test(line)) continue;
    const timer = TIMERS_ALLOWED[path] === undefined ? TIMER.exec(line.replaceAll(KEEP_ALIVE, "")) : null;
    if (timer !== null)
      faults.push(`${path}:${index + 1}: ${timer[1] ?? timer[0].slice(0, -1)}: ${USE_HELPERS}`);
    const pending = PENDING.exec(line);
    if (pending !== null) faults.push(`${path}:${index + 1}: ${pending[1]}: ${AWAIT_FIRST}`);
    if (path.endsWith(".test.ts") && !TIMES_ALLOWED.has(path) && MEASURED.test(line))
      faults.push(`${path}:${index + 1}: performance.now: ${COUNT_WORK}`);
  }
  return faults;
}

function testFiles(root: string): string[] {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
    .map((path) => `test/${path.replaceAll("\\", "/")}`)
    .filter((path) => /\.(ts|js|mjs)$/.test(path) && !path.startsWith("test/data/"))
    .sort();
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, "../..");
  const faults = testFiles(root).flatMap((path) => findSleeps(path, readFileSync(join(root, path), "utf8")));
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
