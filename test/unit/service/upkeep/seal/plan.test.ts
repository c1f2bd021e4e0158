import { describe, expect, test } from "bun:test";
import { EMPTY_MANIFEST, type ExpiredDay, type SealedDay } from "../../../../../src/archive/manifest.ts";
import { DEFAULT_RETENTION } from "../../../../../src/model/time/retention.ts";
import { parseUtcDayName, type UtcDay, utcDayOf } from "../../../../../src/model/time/utc-day.ts";
import {
  archivedByMs,
  planRetention,
  planSeal,
  splitExpired,
  windowStart,
} from "../../../../../src/service/upkeep/seal/plan.ts";

const NOON_MS = Date.UTC(2026, 0, 28, 12);
const DAY_MS = 86_400_000;

function day(name: string): UtcDay {
  return parseUtcDayName(name)!;
}

const SEALED: SealedDay = { sequence: 7, cleared: 0, parts: [], lost: [] };

describe("planSeal()", () => {
  test("takes what left the window of seven whole days, and all late rows", () => {
    const inMemory = [
      { day: day("2025-03-01"), records: 1, isSealed: false },
      { day: day("2026-01-20"), records: 1, isSealed: false },
      { day: day("2026-01-21"), records: 1, isSealed: false },
      { day: day("2026-01-22"), records: 1, isSealed: true }, // A clock that was ahead once.
      { day: day("2026-01-28"), records: 1, isSealed: false },
    ];
    expect(planSeal(inMemory, NOON_MS)).toEqual(
      ["2025-03-01", "2026-01-20", "2026-01-22"].map((name) => day(name)),
    );
  });

  test("takes days that nobody can have reported yet in a cluster, whose log would be kept for them for years", () => {
    const held = (...names: string[]) =>
      names.map((name) => ({ day: day(name), records: 1, isSealed: false }));
    const inMemory = held("2026-01-28", "2026-02-04", "2026-02-05", "2030-01-01");
    expect(planSeal(inMemory, NOON_MS, true)).toEqual([day("2026-02-05"), day("2030-01-01")]);
    expect(planSeal(inMemory, NOON_MS)).toEqual([]);
    // A clock that is weeks behind seals nothing of the present.
    expect(planSeal(held("2026-02-20", "2026-02-21"), NOON_MS, true)).toEqual([]);
  });

  test("moves with midnight in UTC", () => {
    const midnightMs = Date.UTC(2026, 0, 28);
    expect(windowStart(midnightMs)).toBe(day("2026-01-21"));
    expect(windowStart(midnightMs - 1)).toBe(day("2026-01-20"));
  });
});

const timeOf = (nowMs: number) => ({
  nowMs,
  firstDay: utcDayOf(DEFAULT_RETENTION.startMs(nowMs)),
  retention: DEFAULT_RETENTION.text,
});

describe("planRetention()", () => {
  const nowMs = NOON_MS;
  const old = day("2025-01-10");
  const PART = {
    file: "day=2025-01-10/00000001-000.parquet",
    rows: 1,
    bytes: 1,
    crc: 1,
    apps: new Map(),
    columns: "",
  };
  const expired = (sinceMs: number, parts = [PART]): ExpiredDay => ({ ...SEALED, parts, sinceMs });
  const plan = (sinceMs: number, atMs = nowMs, sealing: UtcDay[] = []) =>
    planRetention(
      { ...EMPTY_MANIFEST, expired: new Map([[old, expired(sinceMs)]]) },
      new Set(sealing),
      () => false,
      timeOf(atMs),
    );

  test("deletes what was aside for a day, not a moment before", () => {
    const due = plan(nowMs - DAY_MS);
    expect([...due.deleted.keys()]).toEqual([old]);
    expect(due.remaining.get(old)).toEqual(expired(nowMs, [])); // The log may still hold reports of it.
    const early = plan(nowMs - DAY_MS + 1);
    expect([early.deleted.size, early.remaining.get(old)]).toEqual([0, expired(nowMs - DAY_MS + 1)]);
  });

  test("forgets a deleted day another day later, and not before the log surely holds nothing of it", () => {
    const planFor = (sinceMs: number, mayHold: boolean) =>
      planRetention(
        { ...EMPTY_MANIFEST, expired: new Map([[old, expired(sinceMs, [])]]) },
        new Set(),
        () => mayHold,
        timeOf(nowMs),
      );
    expect(planFor(nowMs - DAY_MS + 1, false).remaining.size).toBe(1);
    expect(planFor(nowMs - DAY_MS, false)).toMatchObject({ remaining: new Map(), deleted: new Map() });
    const { remaining, deleted } = planFor(nowMs - 99 * DAY_MS, true);
    expect([remaining.get(old), deleted.size]).toEqual([expired(nowMs - 99 * DAY_MS, []), 0]);
  });

  test("keeps what a clock says it will move aside in the future", () => {
    expect([...plan(nowMs + 10 * DAY_MS).remaining.keys()]).toEqual([old]);
  });

  test("brings back what is within the retention again, and what memory has more of", () => {
    const setBackMs = Date.UTC(2025, 5, 1);
    expect([...plan(nowMs - 2 * DAY_MS, setBackMs).restored.keys()]).toEqual([old]);
    expect([...plan(nowMs - 2 * DAY_MS, nowMs, [old]).restored.keys()]).toEqual([old]);
  });
});

test("splitExpired() keeps the day 365 days ago and parts with the one before", () => {
  const days = new Map([
    [day("2025-01-27"), SEALED],
    [day("2025-01-28"), SEALED],
  ]);
  const { retained, expired } = splitExpired(days, timeOf(NOON_MS));
  expect([...retained.keys()]).toEqual([day("2025-01-28")]);
  expect([...expired]).toEqual([[day("2025-01-27"), { ...SEALED, sinceMs: NOON_MS }]]);
});

test("archivedByMs() is the seal after the last day leaves the window, or the next one", () => {
  const startOf = (name: string) => Date.parse(`${name}T00:00Z`);
  for (const [last, archived] of [
    [null, NOON_MS],
    ["2026-01-10", NOON_MS],
    ["2026-01-28", startOf("2026-02-05")],
    ["2026-02-04", startOf("2026-02-12")],
    ["2030-01-01", startOf("2026-02-12")], // Is archived at once.
  ] as const) {
    const lastDay = last === null ? null : day(last);
    expect([last, archivedByMs(lastDay, NOON_MS, 1000)]).toEqual([last, archived + 1000]);
    if (last === null || archived === NOON_MS || last > "2026-02-04") continue;
    const inMemory = [{ day: day(last), records: 1, isSealed: false }];
    expect([planSeal(inMemory, archived - 1, true), planSeal(inMemory, archived, true)]).toEqual([
      [],
      [day(last)],
    ]);
  }
});
