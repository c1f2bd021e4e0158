import { expect, test } from "bun:test";
import fc from "fast-check";
import { createRateLimit } from "../../src/auth/rate-limit.ts";
import { rateLimitHeader, rateLimitPolicyHeader } from "../../src/http/rate-limit-headers.ts";

const START_MS = 1_700_000_000_000;

test("take() allows the burst at once, then the rate", () => {
  const rate = createRateLimit();
  for (let i = 0; i < 20; i++) expect(rate.take("k", "free", START_MS).remaining).toBe(19 - i);
  expect(rate.take("k", "free", START_MS)).toEqual({
    allowed: false,
    limit: 20,
    remaining: 0,
    resetSeconds: 1,
    retryAfterSeconds: 1,
  });
  expect(rate.take("k", "free", START_MS + 99).allowed).toBe(false);
  expect(rate.take("k", "free", START_MS + 100).allowed).toBe(true);
  expect(rate.take("k", "free", START_MS + 100).allowed).toBe(false);
});

test("take() holds no more than the burst, however long the pause", () => {
  const rate = createRateLimit();
  rate.take("k", "standard", START_MS);
  expect(rate.take("k", "standard", START_MS + 86_400_000).remaining).toBe(199);
});

test("take() keeps keys apart and never refuses an unlimited one", () => {
  const rate = createRateLimit();
  for (let i = 0; i < 21; i++) rate.take("a", "free", START_MS);
  expect(rate.take("b", "free", START_MS).remaining).toBe(19);
  for (let i = 0; i < 1000; i++) expect(rate.take("c", "unlimited", START_MS).allowed).toBe(true);
});

test("take() neither locks out nor gives anything away when the clock jumps back", () => {
  const rate = createRateLimit();
  for (let i = 0; i < 20; i++) rate.take("k", "free", START_MS);
  const earlierMs = START_MS - 3_600_000;
  expect(rate.take("k", "free", earlierMs).allowed).toBe(false);
  expect(rate.take("k", "free", earlierMs + 100).allowed).toBe(true);
  expect(rate.take("k", "free", earlierMs + 100).allowed).toBe(false);
});

test("take() allows at most the burst plus the rate times the time, in any run of requests", () => {
  const pauses = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 500 })), { maxLength: 300 });
  fc.assert(
    fc.property(pauses, (pausesMs) => {
      const rate = createRateLimit();
      let nowMs = START_MS;
      let allowed = 0;
      for (const pauseMs of pausesMs) {
        nowMs += pauseMs;
        if (rate.take("k", "free", nowMs).allowed) allowed++;
        expect(allowed).toBeLessThanOrEqual(20 + ((nowMs - START_MS) * 10) / 1000);
      }
    }),
  );
});

test("take() forgets buckets that are full again, and only those", () => {
  const rate = createRateLimit();
  for (let i = 0; i < 20; i++) rate.take("busy", "free", START_MS + 60_000);
  for (let i = 0; i < 5000; i++) rate.take(`k${i}`, "free", START_MS + i * 1000);
  expect(rate.size).toBeLessThanOrEqual(1024);

  const crowded = createRateLimit();
  for (let i = 0; i < 5000; i++) crowded.take(`k${i}`, "free", START_MS);
  expect(crowded.size).toBe(5000);
  expect(crowded.take("k0", "free", START_MS).remaining).toBe(18);
});

test("rateLimitHeader() and rateLimitPolicyHeader() tell the bucket in the draft's words", () => {
  const rate = createRateLimit();
  expect(rateLimitPolicyHeader("standard")).toBe('"standard";q=200;w=2');
  expect(rateLimitHeader("standard", rate.take("k", "standard", START_MS))).toBe('"standard";r=199;t=1');
  expect(rateLimitPolicyHeader("unlimited")).toBe('"unlimited";q=999999999999999;w=1');
  expect(rateLimitHeader("unlimited", rate.take("u", "unlimited", START_MS))).toBe(
    '"unlimited";r=999999999999999;t=1',
  );
});
