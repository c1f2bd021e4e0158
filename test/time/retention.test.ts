import { describe, expect, test } from "bun:test";
import { retentionStartMs, startOfUtcDayMs } from "../../src/time/retention.ts";

describe("startOfUtcDayMs()", () => {
  test("keeps midnight and goes back to it from every other instant, before 1970 too", () => {
    const midnightMs = Date.UTC(2026, 6, 1);
    expect(startOfUtcDayMs(midnightMs)).toBe(midnightMs);
    expect(startOfUtcDayMs(midnightMs + 86_399_999)).toBe(midnightMs);
    expect(startOfUtcDayMs(midnightMs - 1)).toBe(Date.UTC(2026, 5, 30));
    expect(startOfUtcDayMs(-1)).toBe(-86_400_000);
  });
});

describe("retentionStartMs()", () => {
  test("is the start of the UTC day 365 days ago, through leap years", () => {
    expect(retentionStartMs(Date.UTC(2026, 6, 1, 23, 59))).toBe(Date.UTC(2025, 6, 1));
    expect(retentionStartMs(Date.UTC(2026, 6, 1))).toBe(Date.UTC(2025, 6, 1));
    expect(retentionStartMs(Date.UTC(2024, 11, 31, 5))).toBe(Date.UTC(2024, 0, 1));
  });
});
