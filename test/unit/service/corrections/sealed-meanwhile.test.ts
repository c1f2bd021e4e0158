import { afterAll, expect, test } from "bun:test";
import { LATE_WINDOW } from "../../../../src/app/config.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import { DEFAULT_RETENTION } from "../../../../src/model/time/retention.ts";
import { type Correct, createCorrect } from "../../../../src/service/corrections/correct.ts";
import type { StandingAppend } from "../../../../src/service/ingest/standing-append.ts";
import { createHistoryQueries } from "../../../../src/service/queries/history/history.ts";
import { createReadPositions } from "../../../../src/service/queries/positions.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { makeCorrection, undoCorrection } from "../../../support/corrections/make-correction.ts";

/** A report that comes while a correction is made may be archived before the correction's entry is in the log. */

afterAll(removeArchiveApps);

const DAY_MS = Date.UTC(2026, 0, 14);

const reportAt = (device_id: string, minute: number) => ({
  ...{ device_id, timestamp: DAY_MS + minute * 60_000, latitude: minute, longitude: 2 },
});

/** Corrections of an app that do something before each entry is appended. */
function correctAfter({ directory, clock }: ArchiveApp, before: () => Promise<unknown>): Correct {
  const { hot, log, archive, scheduler, ingest } = directory;
  const append: StandingAppend = async (entry) => {
    await before();
    const appended = await log.appendStanding(entry);
    while (appended.ok && hot.visibleSequence < appended.value) await nextTurn();
    return appended;
  };
  const stores = { hot, clock, scheduler, retention: DEFAULT_RETENTION, lateWindow: LATE_WINDOW };
  const archived = { ...stores, archive: () => archive, acknowledgedParts: async () => new Set<string>() };
  const history = createHistoryQueries(archived);
  return createCorrect({
    ...archived,
    history,
    readPositions: createReadPositions(archived),
    append,
    ingest,
  });
}

/** The minute of the newest record. */
async function minuteOf(app: ArchiveApp, device: string): Promise<unknown> {
  return (await app.get(`/api/v1/devices/${device}/locations/current`)).body.location?.latitude;
}

test("it is the newest one once the correction has hidden those after it", async () => {
  const app = await createArchiveApp();
  await app.store([reportAt("bus", 1), reportAt("bus", 5)]);
  const correct = correctAfter(app, async () => {
    await app.store([reportAt("bus", 3), reportAt("bus", 2)]);
    await app.seal();
  });
  await makeCorrection(app, { action: "hide", device_id: "bus", timestamps: [DAY_MS + 300_000] }, correct);
  expect(await minuteOf(app, "bus")).toBe(3);
  await app.close();
});

test("it is the newest one of its device once the assignment of another to that is undone", async () => {
  const app = await createArchiveApp();
  await app.store([reportAt("bus", 1), reportAt("bus", 6), reportAt("tram", 2)]);
  await app.seal();
  const id = await makeCorrection(app, { action: "assign", device_id: "bus", to_device_id: "tram" });
  const correct = correctAfter(app, async () => {
    await app.store([reportAt("tram", 4), reportAt("bus", 5)]);
    await app.seal();
  });
  await undoCorrection(app, id, correct);
  expect([await minuteOf(app, "bus"), await minuteOf(app, "tram")]).toEqual([6, 4]);
  await app.close();
});
