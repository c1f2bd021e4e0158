import { expect, test } from "bun:test";
import { createQuerySlots } from "../../../../src/archive/read/part-reader.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { outcome } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";

const PATIENT = new AbortController().signal;
const [APP, OTHER, THIRD] = ["app", "other", "third"] as [AppId, AppId, AppId];

type QuerySlots = ReturnType<typeof createQuerySlots>;

/** Work that ends when the test says so. */
function createWork() {
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, work: () => done };
}

/** Asks for each of the apps in their order; `began` has those whose work runs or ran, by index. */
function askAll(slots: QuerySlots, apps: readonly AppId[]) {
  const began: number[] = [];
  const works = apps.map(() => createWork());
  const runs = apps.map((app, index) =>
    slots.run(app, PATIENT, () => {
      began.push(index);
      return works[index]!.work();
    }),
  );
  async function end(index: number): Promise<void> {
    works[index]!.end();
    await runs[index];
    await turns();
  }
  return { began, runs, end };
}

test("run() lets as many run as there are slots, and the others of an app in their order", async () => {
  const slots = createQuerySlots(3, 5);
  const { began, runs, end } = askAll(slots, [APP, APP, APP, APP]);
  await turns();
  expect([slots.running, slots.waiting, ...began]).toEqual([2, 2, 0, 1]);
  await end(1);
  expect([slots.running, slots.waiting, ...began]).toEqual([2, 1, 0, 1, 2]);
  for (const index of [0, 2, 3]) await end(index);
  await Promise.all(runs);
  expect([slots.running, slots.waiting, ...began]).toEqual([0, 0, 0, 1, 2, 3]);
});

test("run() keeps one slot from an app that has all the others", async () => {
  const slots = createQuerySlots(4, 8);
  const { began, end } = askAll(slots, [APP, APP, APP, APP, APP, OTHER]);
  await turns();
  expect(began).toEqual([0, 1, 2, 5]);
  await end(5);
  expect([slots.running, ...began]).toEqual([3, 0, 1, 2, 5]);
  for (const index of [0, 1, 2, 3, 4]) await end(index);
  expect([slots.running, slots.waiting, ...began]).toEqual([0, 0, 0, 1, 2, 5, 3, 4]);
});

test("run() serves apps in turns, however many questions one of them asked before", async () => {
  const slots = createQuerySlots(1, 20);
  const { began, end } = askAll(slots, [APP, APP, APP, APP, APP, OTHER, OTHER, THIRD]);
  await turns();
  for (const index of [0, 1, 5, 7, 2, 6, 3, 4]) await end(index);
  expect(began).toEqual([0, 1, 5, 7, 2, 6, 3, 4]);
});

test("run() fails at once where too many of an app wait, and takes work again later", async () => {
  const slots = createQuerySlots(1, 1);
  const { runs, end } = askAll(slots, [APP, APP]);
  const refused = await slots.run(APP, PATIENT, async () => "too much");
  expect(refused).toMatchObject({ ok: false, error: { kind: "unavailable", retryAfterSeconds: 1 } });
  for (const index of [0, 1]) await end(index);
  await Promise.all(runs);
  expect(await slots.run(APP, PATIENT, async () => "again")).toEqual({ ok: true, value: "again" });
});

test("run() makes the app with the most waiting questions give way where the queue is full", async () => {
  const slots = createQuerySlots(1, 4);
  const { began, runs, end } = askAll(slots, [APP, APP, APP, APP, APP]);
  const others = askAll(slots, [OTHER, THIRD, OTHER]);
  const refusal = { ok: false, error: { kind: "unavailable" } };
  expect(await runs[4]).toMatchObject(refusal); // The last that came waited for nothing yet.
  expect(await runs[3]).toMatchObject(refusal);
  expect(await others.runs[2]).toMatchObject(refusal); // No line is longer than its own would be.
  expect(slots.waiting).toBe(4);
  await end(0);
  await end(1);
  await others.end(0);
  await others.end(1);
  await end(2);
  expect([began, others.began]).toEqual([
    [0, 1, 2],
    [0, 1],
  ]);
  expect([slots.running, slots.waiting]).toEqual([0, 0]);
});

test("run() gives the slot on after work that failed", async () => {
  const slots = createQuerySlots(1, 1);
  expect(await outcome(slots.run(APP, PATIENT, () => Promise.reject(new Error("no"))))).toThrow("no");
  expect(await slots.run(APP, PATIENT, async () => 1)).toEqual({ ok: true, value: 1 });
  expect(slots.running).toBe(0);
});

test("run() lets go of who waits once the signal comes, and never begins that work", async () => {
  const slots = createQuerySlots(1, 2);
  const first = createWork();
  const running = slots.run(APP, PATIENT, first.work);
  const gone = new AbortController();
  let began = false;
  const left = slots.run(APP, gone.signal, async () => {
    began = true;
  });
  const next = slots.run(APP, PATIENT, async () => "next");
  gone.abort();
  expect(await outcome(left)).toThrow("abort");
  expect(slots.waiting).toBe(1);
  first.end();
  await running;
  expect(await next).toEqual({ ok: true, value: "next" });
  expect(began).toBe(false);
  expect(await outcome(slots.run(APP, gone.signal, async () => 1))).toThrow("abort");
});
