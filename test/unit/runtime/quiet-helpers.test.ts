import { expect, test } from "bun:test";
import { constants } from "node:os";
import { quietHelpers, type Threads } from "../../../src/runtime/quiet-helpers.ts";

/** Threads by id, and timers that a test lets run out. */
function simulate(names: Record<string, string>, refusal: unknown = null) {
  const niceness: Record<string, number> = {};
  let reads = 0;
  let look: (() => void) | null = null;
  const threads: Threads = {
    list: () => Object.keys(names),
    nameOf(thread) {
      reads++;
      return `${names[thread]!}\n`;
    },
    setNiceness(thread, value) {
      if (refusal !== null) throw refusal;
      niceness[thread] = value;
    },
  };
  const timers = {
    nowMs: () => 0,
    after(_ms: number, call: () => void) {
      look = call;
      return () => {
        look = null;
      };
    },
  };
  const pass = () => {
    const call = look;
    look = null;
    call?.();
  };
  return { threads, timers, niceness, pass, isWaiting: () => look !== null, readCount: () => reads };
}

/** Lets the process get warm. */
function warm(pass: () => void): void {
  for (let look = 0; look < 20; look++) pass();
}

test("the pool that syncs gets 5 at once; compilers, collectors and allocators get 19 after 20 s; others stay", () => {
  const names = {
    1: "bun",
    2: "JITWorker",
    3: "HeapHelper",
    4: "mi-scavenger",
    5: "Bun Pool 0",
    6: "JSCWarmUp",
  };
  const { threads, timers, niceness, pass } = simulate(names);
  quietHelpers(threads, timers);
  for (let look = 1; look < 20; look++) pass();
  expect(niceness).toEqual({ 5: 5 });
  pass();
  expect(niceness).toEqual({ 2: 19, 3: 19, 4: 19, 5: 5, 6: 19 });
});

test("new threads step back at the next look, also those that had no name at the first; a number may come again", () => {
  const names: Record<string, string> = { 1: "bun", 2: "bun", 3: "JITWorker" };
  const { threads, timers, niceness, pass, readCount } = simulate(names);
  quietHelpers(threads, timers);
  warm(pass);
  expect(niceness).toEqual({ 3: 19 });
  names[2] = "Bun Pool 1";
  names[4] = "JITWorker";
  pass();
  expect(niceness).toEqual({ 2: 5, 3: 19, 4: 19 });
  const before = readCount();
  pass();
  expect(readCount() - before).toBe(1); // Only the thread that has not stepped back.
  delete names[3];
  pass();
  names[3] = "Bun Pool 2";
  pass();
  expect(niceness[3]).toBe(5);
});

test("a thread that ends while it is looked at is passed over; a refusal ends the looking", () => {
  const gone = simulate({ 2: "JITWorker", 3: "JITWorker" });
  const { threads } = gone;
  const ended = { ...threads };
  ended.nameOf = (thread) => {
    if (thread === "2") throw Object.assign(new Error("ENOENT"), { code: "ENOENT" });
    return threads.nameOf(thread);
  };
  ended.setNiceness = (thread, value) => {
    if (thread === "3") throw Object.assign(new Error("no such process"), { errno: -constants.errno.ESRCH });
    threads.setNiceness(thread, value);
  };
  quietHelpers(ended, gone.timers);
  warm(gone.pass);
  expect(gone.isWaiting()).toBe(true);
  expect(gone.niceness).toEqual({});

  const refused = simulate({ 2: "Bun Pool 0" }, Object.assign(new Error("EPERM"), { errno: -1 }));
  quietHelpers(refused.threads, refused.timers);
  expect(refused.isWaiting()).toBe(false);
});

test("the end stops the looking, and no threads need none", () => {
  const { threads, timers, isWaiting } = simulate({ 2: "JITWorker" });
  const end = quietHelpers(threads, timers);
  expect(isWaiting()).toBe(true);
  end();
  expect(isWaiting()).toBe(false);
  quietHelpers(null, timers)();
  expect(isWaiting()).toBe(false);
});
