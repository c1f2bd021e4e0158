import { expect, test } from "bun:test";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { parseUtcDayName } from "../../../../src/model/time/utc-day.ts";
import { MessageFiles } from "../../../../src/service/quarantine/message-files.ts";
import { eventsExpiredMs, findExpired } from "../../../../src/service/upkeep/sweeps.ts";
import { createSimulatedFiles } from "../../../support/disk/simulated-files.ts";

const NOON_MS = Date.UTC(2026, 5, 20, 12);
const OLDEST_MS = Date.UTC(2026, 2, 22); // 90 days before that day.
const NOTHING = Number.NEGATIVE_INFINITY;

function expiry(retention: Retention = DEFAULT_RETENTION) {
  const files = createSimulatedFiles();
  const messageFiles = new MessageFiles(files, "/data/quarantine");
  return { files, at: (nowMs: number) => findExpired(messageFiles, nowMs, retention) };
}

test("findExpired() lets go a day after it first noted what had expired, through restarts too", async () => {
  const { at } = expiry();
  expect(await at(NOON_MS)).toBe(NOTHING);
  expect(await at(NOON_MS + MS_PER_DAY - 1)).toBe(NOTHING);
  expect(await at(NOON_MS + MS_PER_DAY)).toBe(OLDEST_MS);
  expect(await at(NOON_MS + MS_PER_DAY + 1)).toBe(NOTHING);
  expect(await at(NOON_MS + 3 * MS_PER_DAY)).toBe(OLDEST_MS + MS_PER_DAY);
});

test("findExpired() lets nothing go for a clock that is set right within a day", async () => {
  const { at } = expiry();
  await at(NOON_MS);
  const ahead = NOON_MS + 400 * MS_PER_DAY;
  expect(await at(ahead)).toBe(OLDEST_MS); // As it was by the right clock.
  expect(await at(ahead + MS_PER_DAY - 1)).toBe(NOTHING);
  expect(await at(NOON_MS + MS_PER_DAY)).toBe(NOTHING); // Set right: what was noted ahead of it counts no more.
  expect(await at(NOON_MS + 2 * MS_PER_DAY)).toBe(OLDEST_MS + MS_PER_DAY);
});

test("findExpired() begins anew where its note is lost, damaged or can't be written", async () => {
  const { files, at } = expiry();
  await at(NOON_MS);
  await files.replace("/data/quarantine/expiry.json", new TextEncoder().encode("{"));
  expect(await at(NOON_MS + MS_PER_DAY)).toBe(NOTHING);
  files.capacityBytes = 0;
  expect(await at(NOON_MS + 2 * MS_PER_DAY)).toBe(OLDEST_MS + MS_PER_DAY);
});

test("findExpired() goes by a retention of less than 90 days, and by no longer one", async () => {
  for (const [days, oldestMs] of [
    [30, Date.UTC(2026, 4, 21)],
    [3653, OLDEST_MS],
  ] as const) {
    const { at } = expiry(FixedRetention.ofDays(days));
    await at(NOON_MS);
    expect(await at(NOON_MS + MS_PER_DAY)).toBe(oldestMs);
  }
});

test("eventsExpiredMs() is before the retention, and before the oldest day that the archive still has", () => {
  const retentionMs = Date.UTC(2026, 0, 10);
  const days = ["2026-01-12", "2026-01-11"].map((name) => parseUtcDayName(name)!);
  expect(eventsExpiredMs([], retentionMs)).toBe(NOTHING);
  expect(eventsExpiredMs(days, retentionMs)).toBe(retentionMs);
  expect(eventsExpiredMs([...days, parseUtcDayName("2026-01-08")!], retentionMs)).toBe(Date.UTC(2026, 0, 8));
  expect(eventsExpiredMs(days, Date.UTC(2027, 0, 1))).toBe(Date.UTC(2026, 0, 11));
});
