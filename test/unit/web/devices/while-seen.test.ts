import { expect, test } from "bun:test";
import { liveWhileSeen } from "../../../../src/web/devices/live.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

/** A page that is hidden and seen by the test, and what became of its stream. */
function openPage({ hidden = false } = {}) {
  const page = Object.assign(new EventTarget(), { hidden });
  const calls: string[] = [];
  const called = (name: string) => () => {
    calls.push(name);
  };
  const live = { sleep: called("sleep"), wake: called("wake") };
  const time = new VirtualTime();
  liveWhileSeen(live, { page, timers: time });
  if (!hidden) calls.length = 0; // To wake what is awake does nothing.
  const show = (isShown: boolean) => {
    page.hidden = !isShown;
    page.dispatchEvent(new Event("visibilitychange"));
  };
  return { calls, show, time };
}

test("a page that stays hidden sleeps, and wakes when it is seen", async () => {
  const { calls, show, time } = openPage();
  show(false);
  await time.pass(59_999);
  expect(calls).toEqual([]);
  await time.pass(1);
  expect(calls).toEqual(["sleep"]);
  show(true);
  expect(calls).toEqual(["sleep", "wake"]);
});

test("a page that is opened behind others sleeps until it is seen, too", async () => {
  const { calls, show, time } = openPage({ hidden: true });
  await time.pass(60_000);
  expect(calls).toEqual(["sleep"]);
  show(true);
  expect(calls).toEqual(["sleep", "wake"]);
});

test("a page that was hidden for a moment goes on", async () => {
  const { calls, show, time } = openPage();
  show(false);
  show(true);
  await time.pass(600_000);
  expect(calls).toEqual(["wake"]);
});
