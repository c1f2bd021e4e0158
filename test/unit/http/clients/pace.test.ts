import { expect, test } from "bun:test";
import { Pace } from "../../../../src/http/clients/pace.ts";

/** A key's requests are slowed to its tier's rate, and refused only where they would have to wait too long. */

const NOW_MS = 1_800_000_000_000;

test("a burst is let through at once, then each request waits for its turn", () => {
  const pace = new Pace(5000);
  const delays = Array.from({ length: 25 }, () => pace.delayMs("k", "free", NOW_MS));
  expect(delays).toEqual([...new Array(20).fill(0), 100, 200, 300, 400, 500]);
  expect(pace.delayMs("k", "free", NOW_MS + 500)).toBe(100);
  expect(pace.delayMs("k", "free", NOW_MS + 3000)).toBe(0);
});

test("who would have to wait longer than it may is refused, and loses nothing by it", () => {
  const pace = new Pace(5000);
  const delays = Array.from({ length: 80 }, () => pace.delayMs("k", "free", NOW_MS));
  expect(delays.filter((delay) => delay !== null)).toHaveLength(70);
  expect(delays[69]).toBe(5000);
  expect(pace.delayMs("k", "free", NOW_MS + 100)).toBe(5000);
});

test("a rate that is kept never waits, for any number of requests", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 1000; i++) expect(pace.delayMs("k", "standard", NOW_MS + i * 10)).toBe(0);
});

test("keys don't wait for each other, and one without a limit never does", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 100; i++) pace.delayMs("busy", "free", NOW_MS);
  expect(pace.delayMs("other", "free", NOW_MS)).toBe(0);
  for (let i = 0; i < 100_000; i++) expect(pace.delayMs("fast", "unlimited", NOW_MS)).toBe(0);
});

test("a clock that goes back keeps nobody waiting", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 100; i++) pace.delayMs("k", "free", NOW_MS);
  expect(pace.delayMs("k", "free", NOW_MS - 86_400_000)).toBe(0);
});

test("a key that is in time again is forgotten", () => {
  const pace = new Pace(5000);
  for (let i = 0; i < 10_000; i++) pace.delayMs(`k${i}`, "free", NOW_MS + i * 100);
  expect(pace.size).toBeLessThan(3000);
});

test("of several servers each lets by its part of the burst and of the rate", () => {
  const by = { share: 4 };
  const pace = new Pace(5000, () => by.share);
  const delays = Array.from({ length: 7 }, () => pace.delayMs("k", "free", NOW_MS));
  expect(delays).toEqual([0, 0, 0, 0, 0, 400, 800]);
  by.share = 1; // No burst comes of it.
  expect(pace.delayMs("k", "free", NOW_MS)).toBe(900);
});
