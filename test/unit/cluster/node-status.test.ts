import { expect, test } from "bun:test";
import { LagMeter } from "../../../src/cluster/node-status.ts";

const GRACE_MS = 4000;

test("a node that has all that the servers had does not lag", () => {
  const lag = new LagMeter(0);
  lag.note({ atMs: 1000, lastMessage: 10 });
  expect(lag.lagMs(1500, 10, GRACE_MS)).toBe(0);
});

test("the lag is the age of the oldest thing that is missing, however much more comes", () => {
  const lag = new LagMeter(0);
  for (let second = 1; second <= 20; second++) lag.note({ atMs: second * 1000, lastMessage: 100 + second });
  expect(lag.lagMs(20_000, 100, GRACE_MS)).toBe(19_000);
  expect(lag.lagMs(20_000, 112, GRACE_MS)).toBe(7000);
  expect(lag.lagMs(20_500, 120, GRACE_MS)).toBe(0);
});

test("a quiet stream does not hide that something of it is missing", () => {
  const lag = new LagMeter(0);
  for (let second = 1; second <= 30; second++) lag.note({ atMs: second * 1000, lastMessage: 5 });
  expect(lag.lagMs(30_000, 4, GRACE_MS)).toBe(29_000);
  expect(lag.lagMs(30_000, 5, GRACE_MS)).toBe(0);
});

test("servers that don't answer in time count as lag since their last answer", () => {
  const lag = new LagMeter(0);
  lag.note({ atMs: 10_000, lastMessage: 5 });
  expect(lag.lagMs(13_000, 5, GRACE_MS)).toBe(0);
  expect(lag.lagMs(25_000, 5, GRACE_MS)).toBe(15_000);
  lag.note({ atMs: 26_000, lastMessage: 5 });
  expect(lag.lagMs(26_100, 5, GRACE_MS)).toBe(0);
});
