import { describe, expect, test } from "bun:test";
import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import type { TierName } from "../../../src/auth/tiers.ts";
import { rateLimitHeader, rateLimitPolicyHeader } from "../../../src/http/answer/headers.ts";
import * as fc from "../../support/fast-check.ts";

const START_MS = 1_700_000_000_000;

test("take() allows the burst at once, then the rate", () => {
  const rate = createRateLimit();
  for (let i = 0; i < 20; i++) expect(rate.take("k", "free", START_MS).remaining).toBe(19 - i);
  expect(rate.take("k", "free", START_MS)).toEqual({
    allowed: false,
    limit: 20,
    remaining: 0,
    windowSeconds: 2,
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
  const told = (tier: TierName, from = rate) => {
    const decision = from.take("k", tier, START_MS);
    return [rateLimitPolicyHeader(tier, decision), rateLimitHeader(tier, decision)];
  };
  expect(told("standard")).toEqual(['"standard";q=200;w=2', '"standard";r=199;t=1']);
  expect(told("unlimited")).toEqual([
    '"unlimited";q=999999999999999;w=1',
    '"unlimited";r=999999999999999;t=1',
  ]);
  expect(
    told(
      "free",
      createRateLimit(() => 3),
    ),
  ).toEqual(['"free";q=6;w=2', '"free";r=5;t=1']);
  expect(
    told(
      "free",
      createRateLimit(() => 50),
    ),
  ).toEqual(['"free";q=1;w=5', '"free";r=0;t=5']);
});

describe("of several servers", () => {
  /** A limit whose share the test sets, and how many of many requests it lets by at once. */
  function shared(share: number) {
    const by = { share };
    const rate = createRateLimit(() => by.share);
    const allowed = (keyId: string, nowMs: number) => {
      let count = 0;
      while (rate.take(keyId, "free", nowMs).allowed) count++;
      return count;
    };
    return { by, rate, allowed };
  }

  test("each gives its part of the burst and of the rate, and one request at least", () => {
    expect(shared(4).allowed("k", START_MS)).toBe(5);
    expect(shared(3).allowed("k", START_MS)).toBe(6);
    expect(shared(100).allowed("k", START_MS)).toBe(1);
    const { allowed } = shared(4);
    allowed("k", START_MS);
    expect(allowed("k", START_MS + 399)).toBe(0);
    expect(allowed("k", START_MS + 400)).toBe(1);
  });

  test("one more takes away what is over", () => {
    const { by, rate, allowed } = shared(1);
    rate.take("k", "free", START_MS);
    by.share = 2;
    expect(allowed("k", START_MS)).toBe(10);
    expect(allowed("new", START_MS)).toBe(10);
  });

  test("one less gives nobody a burst: not to a key that has none left, nor to one that has not asked yet", () => {
    const { by, allowed } = shared(4);
    expect(allowed("k", START_MS)).toBe(5);
    by.share = 1;
    expect(allowed("k", START_MS)).toBe(0);
    expect(allowed("new", START_MS)).toBe(5);
    expect(allowed("k", START_MS + 1000)).toBe(10); // From here on at the greater rate.
    expect(allowed("newer", START_MS + 1000)).toBe(15);
    expect(allowed("k", START_MS + 60_000)).toBe(20);
  });

  test("what one more took away is not given back at once", () => {
    const { by, rate, allowed } = shared(1);
    rate.take("k", "free", START_MS);
    by.share = 4;
    rate.take("other", "free", START_MS);
    by.share = 1;
    expect(allowed("k", START_MS)).toBe(5);
  });

  test("what was earned before a change was earned at the rate of that time", () => {
    const { by, rate, allowed } = shared(4);
    expect(allowed("k", START_MS)).toBe(5);
    rate.take("other", "free", START_MS + 400);
    by.share = 1;
    rate.take("other", "free", START_MS + 800); // Here the change is seen.
    expect(allowed("k", START_MS + 800)).toBe(2);
  });

  test("servers that come and go give no more than one would, and a burst each time one comes anew", () => {
    const step = fc.record({
      share: fc.integer({ min: 1, max: 8 }),
      pauseMs: fc.nat(400),
      requests: fc.nat(30),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const { by, rate } = shared(1);
        let [nowMs, allowed] = [START_MS, 0];
        for (const { share, pauseMs, requests } of steps) {
          by.share = share;
          nowMs += pauseMs;
          for (let i = 0; i < requests; i++) if (rate.take("k", "free", nowMs).allowed) allowed++;
          expect(allowed).toBeLessThanOrEqual(20 + ((nowMs - START_MS) * 10) / 1000);
        }
      }),
    );
  });

  test("a bucket is forgotten once it is as full as a new one, and not while both still grow", () => {
    const { by, rate, allowed } = shared(4);
    allowed("k", START_MS);
    by.share = 1;
    for (let i = 0; i < 1500; i++) rate.take(`k${i}`, "free", START_MS + i / 2);
    expect(rate.size).toBe(1501);
    for (let i = 0; i < 2000; i++) rate.take(`later${i}`, "free", START_MS + 3000 + i);
    expect(rate.size).toBeLessThan(2500);
    expect(allowed("k", START_MS + 5000)).toBe(20);
  });
});
