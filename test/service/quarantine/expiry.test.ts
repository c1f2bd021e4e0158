import { expect, test } from "bun:test";
import { findExpired } from "../../../src/service/quarantine/expiry.ts";
import { MS_PER_DAY } from "../../../src/time/retention.ts";
import { createSimulatedFiles } from "../../support/disk/simulated-files.ts";

const NOON_MS = Date.UTC(2026, 5, 20, 12);
const OLDEST_MS = Date.UTC(2026, 2, 22); // 90 days before that day.
const NOTHING = Number.NEGATIVE_INFINITY;

function expiry() {
  const files = createSimulatedFiles();
  return { files, at: (nowMs: number) => findExpired(files, "/data/quarantine", nowMs) };
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
