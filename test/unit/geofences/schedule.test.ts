import { expect, test } from "bun:test";
import type { PlainHours } from "../../reference/fence-events.ts";
import { openings } from "../../reference/fence-events.ts";
import * as fc from "../../support/fast-check.ts";
import { createSchedule, hoursOfWeek } from "../../support/geofences/random-watches.ts";

const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;

const EVERY_DAY = [0, 1, 2, 3, 4, 5, 6];

/** The instants at which a schedule opens and closes within a stretch of time, as text. */
function edges(hours: PlainHours, from: string, to: string): string[] {
  const schedule = createSchedule(hours);
  const texts: string[] = [];
  let atMs = Date.parse(from);
  for (;;) {
    const { isOpen, endMs } = schedule.spanAt(atMs);
    if (endMs >= Date.parse(to)) return texts;
    texts.push(`${isOpen ? "closes" : "opens"} ${new Date(endMs).toISOString().slice(0, 16)}`);
    atMs = endMs;
  }
}

test("Schedule: hours follow the local clock when it changes", () => {
  const hours = {
    timezone: "Europe/Berlin",
    weekly: [{ days: EVERY_DAY, from: "08:00", to: "18:00" }],
    except: [],
  };
  expect(edges(hours, "2026-03-28T00:00Z", "2026-03-30T00:00Z")).toEqual([
    "opens 2026-03-28T07:00",
    "closes 2026-03-28T17:00",
    "opens 2026-03-29T06:00",
    "closes 2026-03-29T16:00",
  ]);
});

test("Schedule: a time that clocks skip is when they go on; of one that they show twice, the first counts", () => {
  const hours = {
    timezone: "Europe/Berlin",
    weekly: [{ days: [6], from: "02:30", to: "04:00" }],
    except: [],
  };
  expect(edges(hours, "2026-03-28T12:00Z", "2026-03-30T00:00Z")).toEqual([
    "opens 2026-03-29T01:00",
    "closes 2026-03-29T02:00",
  ]);
  expect(edges(hours, "2026-10-24T12:00Z", "2026-10-26T00:00Z")).toEqual([
    "opens 2026-10-25T00:30",
    "closes 2026-10-25T03:00",
  ]);
  const skipped = { ...hours, weekly: [{ days: [6], from: "02:00", to: "03:00" }] };
  expect(edges(skipped, "2026-03-28T12:00Z", "2026-04-06T00:00Z")).toEqual([
    "opens 2026-04-05T00:00",
    "closes 2026-04-05T01:00",
  ]);
});

test("Schedule: hours that end at or before their beginning end on the next day; an exception takes a day's hours", () => {
  const weekly = [{ days: EVERY_DAY, from: "22:00", to: "06:00" }];
  const hours = { timezone: "UTC", weekly, except: ["2026-05-02"] };
  expect(edges(hours, "2026-05-01T12:00Z", "2026-05-04T00:00Z")).toEqual([
    "opens 2026-05-01T22:00",
    "closes 2026-05-02T06:00",
    "opens 2026-05-03T22:00",
  ]);
});

test("Schedule: hours that fill the week end only at an exception, years later too", () => {
  const weekly = [{ days: EVERY_DAY, from: "00:00", to: "24:00" }];
  const always = { timezone: "Europe/Berlin", weekly, except: [] };
  expect(createSchedule(always).spanAt(0)).toEqual({ isOpen: true, endMs: Infinity });
  expect(
    edges({ ...always, except: ["2034-01-01", "2026-05-02"] }, "2026-05-01T00:00Z", "2040-01-01T00:00Z"),
  ).toEqual([
    "closes 2026-05-01T22:00",
    "opens 2026-05-02T22:00",
    "closes 2033-12-31T23:00",
    "opens 2034-01-01T23:00",
  ]);
});

test("Schedule: hours that exceptions take for more than a year open after them", () => {
  const fridays = Array.from({ length: 60 }, (_, week) =>
    new Date(Date.UTC(2026, 0, 2) + week * 7 * MS_PER_DAY).toISOString().slice(0, 10),
  );
  const hours = { timezone: "UTC", weekly: [{ days: [4], from: "08:00", to: "09:00" }], except: fridays };
  expect(edges(hours, "2026-01-01T00:00Z", "2027-03-01T00:00Z")).toEqual([
    "opens 2027-02-26T08:00",
    "closes 2027-02-26T09:00",
  ]);
});

test("Schedule.spanAt() agrees with listing all openings, whatever was asked before", () => {
  const minutes = fc.integer({ min: 0, max: 12 * 24 * 60 });
  fc.assert(
    fc.property(
      hoursOfWeek,
      fc.constantFrom("2026-03-25", "2026-10-21", "2026-04-01"),
      fc.array(minutes, { minLength: 1, maxLength: 20 }),
      (hours, date, asked) => {
        const schedule = createSchedule(hours);
        const startMs = Date.parse(date);
        const listed = openings(hours, startMs, startMs + 40 * MS_PER_DAY);
        for (const minute of asked) {
          const atMs = startMs + minute * MS_PER_MINUTE;
          const open = listed.find((span) => span.startMs <= atMs && atMs < span.endMs);
          const next = open?.endMs ?? listed.find((span) => span.startMs > atMs)?.startMs ?? Infinity;
          const span = schedule.spanAt(atMs);
          expect(span.isOpen).toBe(open !== undefined);
          // What is listed ends some days after the month.
          if (next < startMs + 40 * MS_PER_DAY) expect(span.endMs).toBe(next);
          else expect(span.endMs).toBeGreaterThanOrEqual(startMs + 40 * MS_PER_DAY);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
