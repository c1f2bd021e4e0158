import { expect, test } from "bun:test";
import { createQuerySlots } from "../../src/archive/query-slots.ts";

const PATIENT = new AbortController().signal;

/** Work that ends when the test says so. */
function createWork() {
  let end = () => {};
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { end, work: () => done };
}

test("run() lets as many run as there are slots, and the others in their order", async () => {
  const slots = createQuerySlots(2, 5);
  const order: number[] = [];
  const works = [0, 1, 2, 3].map(() => createWork());
  const runs = works.map(({ work }, index) =>
    slots.run(PATIENT, () => {
      order.push(index);
      return work();
    }),
  );
  await Promise.resolve();
  expect([slots.running, slots.waiting, ...order]).toEqual([2, 2, 0, 1]);
  works[1]!.end();
  await runs[1];
  await Promise.resolve();
  expect([slots.running, slots.waiting, ...order]).toEqual([2, 1, 0, 1, 2]);
  for (const { end } of works) end();
  await Promise.all(runs);
  expect([slots.running, slots.waiting, ...order]).toEqual([0, 0, 0, 1, 2, 3]);
});

test("run() fails at once where too many wait, and takes work again later", async () => {
  const slots = createQuerySlots(1, 1);
  const [first, second] = [createWork(), createWork()];
  const runs = [slots.run(PATIENT, first.work), slots.run(PATIENT, second.work)];
  const refused = await slots.run(PATIENT, async () => "too much");
  expect(refused).toMatchObject({ ok: false, error: { kind: "unavailable", retryAfterSeconds: 1 } });
  first.end();
  second.end();
  await Promise.all(runs);
  expect(await slots.run(PATIENT, async () => "again")).toEqual({ ok: true, value: "again" });
});

test("run() gives the slot on after work that failed", async () => {
  const slots = createQuerySlots(1, 1);
  expect(slots.run(PATIENT, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await slots.run(PATIENT, async () => 1)).toEqual({ ok: true, value: 1 });
  expect(slots.running).toBe(0);
});

test("run() lets go of who waits once the signal comes, and never begins that work", async () => {
  const slots = createQuerySlots(1, 2);
  const first = createWork();
  const running = slots.run(PATIENT, first.work);
  const gone = new AbortController();
  let began = false;
  const left = slots.run(gone.signal, async () => {
    began = true;
  });
  const next = slots.run(PATIENT, async () => "next");
  gone.abort();
  expect(left).rejects.toThrow("abort");
  expect(slots.waiting).toBe(1);
  first.end();
  await running;
  expect(await next).toEqual({ ok: true, value: "next" });
  expect(began).toBe(false);
  expect(slots.run(gone.signal, async () => 1)).rejects.toThrow("abort");
});
