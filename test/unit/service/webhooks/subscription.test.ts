import { describe, expect, test } from "bun:test";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { FAILURES_MAX } from "../../../../src/service/webhooks/retry-schedule.ts";
import { type Parcel, Subscription, type Verdict } from "../../../../src/service/webhooks/subscription.ts";
import * as fc from "../../../support/fast-check.ts";
import { revisionAt } from "../../../support/geofences/test-events.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function stored(seq: number, deviceId = `d${seq}`) {
  return { ...revisionAt(seq, String(seq), { deviceId: deviceId as DeviceId }), seq };
}

function reading(...deviceIds: readonly string[]): Subscription {
  const subscription = new Subscription(0, null);
  subscription.add(
    deviceIds.map((deviceId, index) => stored(index + 1, deviceId)),
    deviceIds.length,
  );
  return subscription;
}

function takeAll(subscription: Subscription, nowMs = 0): Parcel[] {
  const parcels: Parcel[] = [];
  for (let next = subscription.take(nowMs); next !== null; next = subscription.take(nowMs))
    parcels.push(next);
  return parcels;
}

const seqs = (parcels: readonly Parcel[]) => parcels.map((parcel) => parcel.stored.seq);

const DELIVERED: Verdict = { kind: "delivered", retryAfterMs: 0 };
const REJECTED: Verdict = { kind: "rejected", retryAfterMs: 0 };
const failed = (retryAfterMs = 0): Verdict => ({ kind: "failed", retryAfterMs });

describe("Subscription", () => {
  test("sends events of different devices at once, at most 8, and those of one device one after the other", () => {
    const subscription = reading("a", "b", "a", "c", "d", "e", "f", "g", "h", "i", "j");
    const first = takeAll(subscription);
    expect(seqs(first)).toEqual([1, 2, 4, 5, 6, 7, 8, 9]);
    subscription.settle(first[0]!, DELIVERED, 0, 0);
    expect(seqs(takeAll(subscription))).toEqual([3]);
  });

  test("has its cursor before the first event that is not settled", () => {
    const subscription = reading("a", "b", "c");
    const [one, two, three] = takeAll(subscription);
    subscription.settle(three!, DELIVERED, 0, 0);
    expect(subscription.cursor).toBe(0);
    subscription.settle(one!, { kind: "void" }, 0, 0);
    expect(subscription.cursor).toBe(1);
    subscription.settle(two!, DELIVERED, 0, 0);
    expect(subscription.cursor).toBe(3);
    subscription.add([], 9);
    expect(subscription.cursor).toBe(9);
  });

  test("waits as long as the schedule says, with one request at a time, until it is exhausted", () => {
    const subscription = reading("a", "b");
    const waits: number[] = [];
    let nowMs = 0;
    for (;;) {
      const parcels = takeAll(subscription, nowMs);
      if (waits.length > 0) expect(seqs(parcels)).toEqual([1]);
      const consequences = parcels.map((parcel) => subscription.settle(parcel, failed(), nowMs, 0));
      if (consequences.includes("exhausted")) break;
      const { nextMs } = subscription.failing!;
      waits.push(nextMs - nowMs);
      expect([subscription.dueMs, takeAll(subscription, nextMs - 1)]).toEqual([nextMs, []]);
      nowMs = nextMs;
    }
    const hours = [2, 5, 10, 14, 20, 24].map((count) => count * HOUR);
    expect(waits).toEqual([5000, 5 * MINUTE, 30 * MINUTE, ...hours]);
    expect(waits.length).toBe(FAILURES_MAX - 1);
    expect(subscription.cursor).toBe(0);
  });

  test("waits longer by chance, and as long as the receiver asks for, but no more than a day", () => {
    const waits = [
      [0, 1],
      [7000, 1],
      [90 * HOUR, 0],
    ].map(([retryAfterMs, random]) => {
      const subscription = reading("a");
      subscription.settle(subscription.take(0)!, failed(retryAfterMs), 0, random!);
      return subscription.failing!.nextMs;
    });
    expect(waits).toEqual([5500, 7000, 24 * HOUR]);
  });

  test("goes on with few requests at once after a failure, then with more", () => {
    const subscription = reading(..."abcdefghijklmnop");
    for (const parcel of takeAll(subscription)) subscription.settle(parcel, failed(), 0, 0);
    expect(subscription.failing).toEqual({ failures: 1, nextMs: 5000 });
    for (const count of [1, 2, 8]) {
      const next = subscription.readFrom;
      if (next !== null)
        subscription.add(
          [..."abcdefghijklmnop"].slice(next).map((id, index) => stored(next + index + 1, id)),
          16,
        );
      const parcels = takeAll(subscription, 5000);
      expect(parcels.length).toBe(count);
      for (const parcel of parcels) subscription.settle(parcel, DELIVERED, 5000, 0);
    }
    expect(subscription.failing).toBeNull();
  });

  test("keeps one event in memory while the receiver fails, and reads the rest again", () => {
    const subscription = reading(..."aaaaaaaa");
    subscription.settle(subscription.take(0)!, failed(), 0, 0);
    expect([subscription.held, subscription.readFrom]).toEqual([1, null]);
    subscription.settle(subscription.take(5000)!, DELIVERED, 5000, 0);
    expect([subscription.cursor, subscription.readFrom]).toEqual([1, 1]);
  });

  test("tries an event that is rejected five times within five minutes, then parks it; others go on", () => {
    const subscription = reading("a", "a", "b");
    const times: number[] = [];
    for (let nowMs = 0; ; nowMs = subscription.dueMs!) {
      const [parcel, ...others] = takeAll(subscription, nowMs);
      if (nowMs === 0) expect(seqs(others)).toEqual([3]);
      for (const other of others) subscription.settle(other, DELIVERED, nowMs, 0);
      times.push(nowMs);
      if (subscription.settle(parcel!, REJECTED, nowMs, 0) === "parked") break;
      expect([subscription.failing, takeAll(subscription, nowMs)]).toEqual([null, []]);
    }
    expect(times.length).toBe(5);
    expect(times.at(-1)).toBeLessThan(5 * MINUTE);
    expect(subscription.cursor).toBe(1);
    expect(seqs(takeAll(subscription, times.at(-1)))).toEqual([2]);
  });

  test("delivers all in order for each device, whatever receivers answer", () => {
    const answers = fc.array(fc.constantFrom("delivered", "failed", "rejected"), { maxLength: 60 });
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 40 }), answers, (devices, kinds) => {
        const subscription = reading(...devices);
        const delivered: number[] = [];
        for (let nowMs = 0; subscription.cursor < devices.length; nowMs += HOUR) {
          const from = subscription.readFrom;
          const more = devices.slice(from ?? devices.length);
          if (more.length > 0)
            subscription.add(
              more.map((device, index) => stored(from! + index + 1, device)),
              devices.length,
            );
          for (const parcel of takeAll(subscription, nowMs).reverse()) {
            const kind = kinds.shift() ?? "delivered";
            const end = subscription.settle(parcel, { kind, retryAfterMs: 0 }, nowMs, 0);
            if (kind === "delivered" || end === "parked") delivered.push(parcel.stored.seq);
          }
        }
        expect([...delivered].sort((a, b) => a - b)).toEqual(devices.map((_, index) => index + 1));
        for (const device of ["a", "b", "c"]) {
          const ofDevice = delivered.filter((seq) => devices[seq - 1] === device);
          expect(ofDevice).toEqual([...ofDevice].sort((a, b) => a - b));
        }
      }),
    );
  });
});
