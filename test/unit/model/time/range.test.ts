import { describe, expect, test } from "bun:test";
import { dayCount, dayRange, type LocalDate, parseDate, today } from "../../../../src/model/time/range.ts";
import { parseZone, UTC, type Zone } from "../../../../src/model/time/zone.ts";

function zoneNamed(name: string): Zone {
  return parseZone(name)!;
}

function date(text: string): LocalDate {
  const parsed = parseDate(text);
  if (parsed === null) throw new Error(`No date ${text}`);
  return parsed;
}

/** The range of one day as text, and how many hours it is long. */
function dayOf(text: string, zoneName: string): { start: string; hours: number } {
  const { startMs, endMs } = dayRange(date(text), date(text), zoneNamed(zoneName));
  return { start: new Date(startMs).toISOString(), hours: (endMs - startMs) / 3_600_000 };
}

describe("parseDate()", () => {
  test("takes dates that exist", () => {
    const dates = [
      "2026-01-01",
      "2024-02-29",
      "2000-02-29",
      "2026-12-31",
      "0001-01-01",
      "0099-03-01",
      "9999-12-31",
    ];
    for (const text of dates) expect(parseDate(text)).toBe(text as LocalDate);
  });

  test("refuses dates that don't, and every other way to write one", () => {
    const refused = [
      ...[
        "2026-02-29",
        "1900-02-29",
        "2026-02-30",
        "2026-04-31",
        "2026-13-01",
        "2026-00-10",
        "2026-01-00",
        "0000-01-01",
      ],
      ...[
        "",
        " 2026-01-01",
        "2026-01-01 ",
        "2026-01-01\n",
        "2026-1-1",
        "26-01-01",
        "20260101",
        "2026-001",
        "2026-W01",
      ],
      ...[
        "2026-W01-1",
        "2026-01",
        "2026/01/01",
        "2026-01-01T00:00:00",
        "2026-01-01Z",
        "+002026-01-01",
        "-2026-01-01",
      ],
      ...["12026-01-01", "２０２６-01-01", "today", "now"],
    ];
    for (const text of refused) expect([text, parseDate(text)]).toEqual([text, null]);
  });
});

describe("today()", () => {
  test("is the date on the zone's own clocks", () => {
    const nowMs = Date.UTC(2026, 6, 1, 11, 0);
    expect(today(UTC, nowMs)).toBe("2026-07-01" as LocalDate);
    expect(today(zoneNamed("Pacific/Kiritimati"), nowMs)).toBe("2026-07-02" as LocalDate);
    expect(today(zoneNamed("-11:01"), nowMs)).toBe("2026-06-30" as LocalDate);
    expect(today(zoneNamed("PST"), Date.UTC(2026, 6, 1, 7, 59))).toBe("2026-06-30" as LocalDate);
  });
});

describe("dayCount()", () => {
  test("counts both ends", () => {
    expect(dayCount(date("2026-01-01"), date("2026-01-01"))).toBe(1);
    expect(dayCount(date("2024-01-01"), date("2024-12-31"))).toBe(366);
    expect(dayCount(date("2026-03-28"), date("2026-03-30"))).toBe(3);
    expect(dayCount(date("2026-01-02"), date("2026-01-01"))).toBe(0);
  });
});

describe("dayRange()", () => {
  test("is 23 and 25 hours long where clocks change", () => {
    expect(dayOf("2026-03-29", "Europe/Berlin")).toEqual({ start: "2026-03-28T23:00:00.000Z", hours: 23 });
    expect(dayOf("2026-10-25", "Europe/Berlin")).toEqual({ start: "2026-10-24T22:00:00.000Z", hours: 25 });
    expect(dayOf("2026-04-05", "Australia/Lord_Howe")).toEqual({
      start: "2026-04-04T13:00:00.000Z",
      hours: 24.5,
    });
    expect(dayOf("2026-07-01", "UTC")).toEqual({ start: "2026-07-01T00:00:00.000Z", hours: 24 });
  });

  test("starts at the first instant where midnight is skipped", () => {
    expect(dayOf("2018-11-04", "America/Sao_Paulo")).toEqual({
      start: "2018-11-04T03:00:00.000Z",
      hours: 23,
    });
    // From 23:30 to 00:30.
    expect(dayOf("1919-03-31", "America/Toronto")).toEqual({
      start: "1919-03-31T04:30:00.000Z",
      hours: 23.5,
    });
  });

  test("starts at the first of two midnights", () => {
    expect(dayOf("2025-11-02", "America/Havana")).toEqual({ start: "2025-11-02T04:00:00.000Z", hours: 25 });
    // 00:01 goes back to 23:01: the new day keeps its first minute and what follows.
    expect(dayOf("2010-11-07", "America/St_Johns")).toEqual({ start: "2010-11-07T02:30:00.000Z", hours: 25 });
  });

  test("is empty for a day a zone left out", () => {
    expect(dayOf("2011-12-29", "Pacific/Apia")).toEqual({ start: "2011-12-29T10:00:00.000Z", hours: 24 });
    expect(dayOf("2011-12-30", "Pacific/Apia")).toEqual({ start: "2011-12-30T10:00:00.000Z", hours: 0 });
    expect(dayOf("2011-12-31", "Pacific/Apia")).toEqual({ start: "2011-12-30T10:00:00.000Z", hours: 24 });
  });

  test("is 47 hours long for a day a zone had nearly twice", () => {
    // From 11 hours ahead of UTC to 12 behind.
    expect(dayOf("1969-09-30", "Pacific/Kwajalein").hours).toBe(47);
  });

  test("covers several days, from the first to the last", () => {
    const { startMs, endMs } = dayRange(date("2026-01-01"), date("2026-12-31"), zoneNamed("Europe/Berlin"));
    expect(new Date(startMs).toISOString()).toBe("2025-12-31T23:00:00.000Z");
    expect(new Date(endMs - 1).toISOString()).toBe("2026-12-31T22:59:59.999Z");
  });
});
