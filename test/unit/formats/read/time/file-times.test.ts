import { describe, expect, test } from "bun:test";
import type { Remark } from "../../../../../src/formats/read/file-point.ts";
import { ZoneNeededError } from "../../../../../src/formats/read/format.ts";
import { createFileTimes } from "../../../../../src/formats/read/time/file-times.ts";
import { parseZone, UTC } from "../../../../../src/model/time/zone.ts";

const TIME_MS = Date.UTC(2026, 1, 2, 2, 40);
const NOBODY = { note: () => {} };

describe("createFileTimes()", () => {
  test("reads numbers by their size, and their texts", () => {
    const times = createFileTimes(null, NOBODY);
    for (const value of [1_770_000_000, 1_770_000_000_000, 1_770_000_000_000_999]) {
      expect(times.readMs(value)).toBe(TIME_MS);
      expect(times.readMs(` ${value} `)).toBe(TIME_MS);
    }
    for (let ms = 0; ms < 1000; ms++) expect(times.readMs(1_770_000_000 + ms / 1000)).toBe(TIME_MS + ms);
    expect(times.readMs("1770000000123.9")).toBe(TIME_MS + 123);
    expect(times.readMs(99_999_999_999)).toBe(99_999_999_999_000);
    expect(times.readMs(1e11)).toBe(1e11);
    expect(times.readMs(1e14)).toBe(1e11);
    for (const value of [0, "0", "", " ", null, undefined]) expect(times.readMs(value)).toBeNull();
    for (const value of [1e17, Number.NaN, Infinity, "0x10", "soon", true, {}])
      expect(times.readMs(value)).toBeNaN();
    expect(times.readMs(-1)).toBeLessThan(0);
  });

  test("reads ISO 8601 with its own zone, whatever was said", () => {
    for (const zone of [null, UTC, parseZone("Asia/Tokyo")]) {
      const times = createFileTimes(zone, NOBODY);
      expect(times.readMs("2026-02-02T03:40:00.5+01:00")).toBe(TIME_MS + 500);
      expect(times.readMs(" 2026-02-02 02:40:00Z\n")).toBe(TIME_MS);
    }
  });

  test("reads a date and a time that are written as one number", () => {
    const times = createFileTimes(UTC, NOBODY);
    for (const value of [20_260_202_024_000, "20260202024000"]) expect(times.readMs(value)).toBe(TIME_MS);
    expect(times.readMs("20260231024000")).toBeNaN();
    expect(() => createFileTimes(null, NOBODY).readMs(20_260_202_024_000)).toThrow(
      new ZoneNeededError("20260202024000"),
    );
  });

  test("takes a leap second for the last millisecond before it, and says so", () => {
    const remarks: Remark[] = [];
    const times = createFileTimes(UTC, { note: (remark) => remarks.push(remark) });
    expect(times.readMs("2016-12-31T23:59:59Z")).toBe(Date.UTC(2017, 0) - 1000);
    expect(remarks).toEqual([]);
    expect(times.readMs("2016-12-31T23:59:60Z")).toBe(Date.UTC(2017, 0) - 1);
    expect(remarks).toEqual(["leap_second"]);
  });

  test("can't read a date without a time", () => {
    const times = createFileTimes(UTC, NOBODY);
    for (const value of ["2026-02-02", "2026-02", "2026-02-02Z", "02.02.2026 03:40:00"])
      expect(times.readMs(value)).toBeNaN();
  });

  test("reads what lies before 1970 as it is", () => {
    const times = createFileTimes(UTC, NOBODY);
    expect(times.readMs("1970-01-01T00:00:00")).toBe(0);
    expect(times.readMs("1969-12-31T23:59:59")).toBe(-1000);
    expect(times.readMs("1970-01-01T00:59:59+01:00")).toBe(-1000);
  });

  test("reads times without zone in the one that was said, and notes what clocks show twice or never", () => {
    const remarks: Remark[] = [];
    const times = createFileTimes(parseZone("Europe/Berlin"), { note: (remark) => remarks.push(remark) });
    expect(times.readMs("2026-02-02 03:40:00")).toBe(TIME_MS);
    expect(remarks).toEqual([]);
    expect(times.readMs("2026-10-25 02:30:00")).toBe(Date.UTC(2026, 9, 25, 0, 30));
    expect(times.readMs("2026-03-29 02:30:00")).toBe(Date.UTC(2026, 2, 29, 1, 30));
    expect(times.readMs("2026-10-25 02:30:00Z")).toBe(Date.UTC(2026, 9, 25, 2, 30));
    expect(remarks).toEqual(["repeated_hour", "skipped_hour"]);
  });

  test("stops at a time without zone if none was given, and names it", () => {
    const times = createFileTimes(null, NOBODY);
    expect(() => times.readMs("2026-02-02 03:40:00")).toThrow(new ZoneNeededError("2026-02-02 03:40:00"));
    expect(times.readMs("2026-02-02")).toBeNaN();
  });
});
