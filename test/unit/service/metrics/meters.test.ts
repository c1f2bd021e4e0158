import { expect, test } from "bun:test";
import type { Timers } from "../../../../src/lib/schedule/timers.ts";
import { Durations, RequestMeter, watchEventLoop } from "../../../../src/service/metrics/meters.ts";

test("Durations counts each in the first bucket whose bound it does not exceed", () => {
  const durations = new Durations([0.001, 0.01]);
  for (const ms of [0, 1, 1.001, 10, 10.5, 60_000]) durations.add(ms);
  expect([...durations.counts]).toEqual([2, 2, 2]);
  expect(durations.sumSeconds).toBeCloseTo(60.022501, 9);
});

test("RequestMeter counts answers by route and status, and what is not answered yet", () => {
  const meter = new RequestMeter();
  const [a, b] = [meter.route("GET", "/a"), meter.route("POST", "/b/:id")];
  a.begin();
  b.begin();
  a.end(200, 3);
  a.begin();
  a.end(404, 1);
  a.begin();
  a.end(200, 2);
  expect(meter.inFlight).toBe(1);
  expect(meter.routes.map(({ method, path, statuses }) => [method, path, [...statuses]])).toEqual([
    [
      "GET",
      "/a",
      [
        [200, 2],
        [404, 1],
      ],
    ],
    ["POST", "/b/:id", []],
  ]);
  expect(meter.routes[0]!.durations.sumSeconds).toBeCloseTo(0.006, 9);
});

/** An event loop whose time passes by hand. */
function createLoop() {
  let nowMs = 0;
  let calls: { readonly atMs: number; readonly call: () => void }[] = [];
  const timers: Timers = {
    nowMs: () => nowMs,
    after(ms, call) {
      const planned = { atMs: nowMs + ms, call };
      calls.push(planned);
      return () => {
        calls = calls.filter((other) => other !== planned);
      };
    },
  };
  function turn(): void {
    const due = calls.filter(({ atMs }) => atMs <= nowMs);
    calls = calls.filter(({ atMs }) => atMs > nowMs);
    for (const { call } of due) call();
  }
  return {
    timers,
    /** Calls what is due. */
    turn,
    /** Each call comes in its millisecond. */
    run(ms: number) {
      for (let passed = 0; passed < ms; passed++) {
        nowMs++;
        turn();
      }
    },
    /** Nothing else can happen meanwhile. */
    hold(ms: number) {
      nowMs += ms;
    },
    planned: () => calls.length,
  };
}

test("watchEventLoop() sees how long the loop was held up", () => {
  const loop = createLoop();
  const heldUpMs: number[] = [];
  const meter = watchEventLoop((delayMs) => heldUpMs.push(delayMs), loop.timers);
  loop.run(120); // The first looks come on time.
  loop.hold(1200);
  loop.run(60);
  meter.stop();
  expect(loop.planned()).toBe(0);
  const { counts, boundsSeconds } = meter.delays;
  const overSecond = counts.slice(boundsSeconds.indexOf(1) + 1).reduce((sum, count) => sum + count, 0);
  expect(overSecond).toBe(1);
  expect(heldUpMs).toHaveLength(1);
  expect(heldUpMs[0]).toBeWithin(1190, 1201);
});

test("takeLongestMs() tells a hold of 50 ms within 10 ms, whenever it began, and each only once", () => {
  const loop = createLoop();
  const meter = watchEventLoop(() => {}, loop.timers);
  for (let beginMs = 0; beginMs < 10; beginMs++) {
    loop.run(beginMs);
    meter.takeLongestMs();
    loop.hold(50);
    loop.turn();
    expect(meter.takeLongestMs()).toBeWithin(40, 51);
    expect(meter.takeLongestMs()).toBeLessThanOrEqual(0);
  }
  meter.stop();
});

test("takeLongestMs() counts a hold that no timer has seen the end of yet", () => {
  const loop = createLoop();
  const meter = watchEventLoop(() => {}, loop.timers);
  loop.hold(60);
  expect(meter.takeLongestMs()).toBe(50);
  expect(meter.takeLongestMs()).toBe(50); // It is still going on.
  meter.stop();
});

test("an idle process is woken once a second, and a request is watched closely at once", () => {
  const loop = createLoop();
  const meter = watchEventLoop(() => {}, loop.timers);
  const checks = () => meter.delays.counts.reduce((sum, count) => sum + count, 0);
  loop.run(1000);
  expect(checks()).toBe(100);
  loop.run(2000);
  expect(checks()).toBe(102);
  loop.run(30);
  meter.takeLongestMs();
  meter.noteWork();
  loop.hold(50);
  loop.turn();
  expect(meter.takeLongestMs()).toBeWithin(40, 51);
  meter.noteWork(); // One more request moves no check.
  loop.run(100);
  expect(checks()).toBe(113);
  meter.stop();
  expect(loop.planned()).toBe(0);
});

test("RequestMeter tells when a request begins", () => {
  const meter = new RequestMeter();
  let begun = 0;
  meter.onBegin = () => {
    begun++;
  };
  meter.route("GET", "/a").begin();
  expect(begun).toBe(1);
});
