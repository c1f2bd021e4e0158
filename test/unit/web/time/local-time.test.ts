import { expect, test } from "bun:test";
import { instantOf, localTextOf } from "../../../../src/web/time/local-time.ts";
import * as fc from "../../../support/fast-check.ts";

test("an hour that comes twice is the first; one that is left out is as much later", () => {
  expect(instantOf("2026-10-25T02:30", "Europe/Berlin")).toBe(Date.parse("2026-10-25T00:30:00Z"));
  expect(instantOf("2026-03-29T02:30", "Europe/Berlin")).toBe(Date.parse("2026-03-29T01:30:00Z"));
  expect(instantOf("soon", "Europe/Berlin")).toBeNull();
});

test("what an instant is shown as is read as the first instant that is shown so", () => {
  const minutes = fc.integer({ min: 0, max: 2_600_000 }).map((n) => Date.UTC(2022, 0, 1) + n * 60_000);
  const zones = fc.constantFrom("UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe");
  fc.assert(
    fc.property(minutes, zones, (ms, zone) => {
      const read = instantOf(localTextOf(ms, zone), zone)!;
      expect(localTextOf(read, zone)).toBe(localTextOf(ms, zone));
      const earlier = [30, 60].map((minutes) => ms - minutes * 60_000);
      expect(read).toBe(earlier.find((other) => localTextOf(other, zone) === localTextOf(ms, zone)) ?? ms);
    }),
  );
});
