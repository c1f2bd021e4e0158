import { afterAll, expect, test } from "bun:test";
import { PROFILE_FIELDS, type ResponseKind, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../reference/records.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import * as fc from "../../support/fast-check.ts";
import type { Report } from "../../support/reports/batches.ts";
import { arbitraryOddText, ODD_TEXTS, REFUSED_TEXTS } from "../../support/reports/odd-texts.ts";
import { verifyDirectory } from "../../support/verify-directory.ts";

/**
 * Goal: every text comes back byte for byte, and no two of them are taken for one, whether memory, the log, the
 * archive, late rows or the checkpoint has it, in every answer and in the path of every question. Method: devices and
 * users with odd names, and odd texts in every field that takes any, against a map of plain objects.
 */

afterAll(removeArchiveApps);

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);
const OLD_MS = NOW_MS - 20 * DAY_MS;
const OPEN_FIELDS = [...PROFILE_FIELDS, ...STATE_FIELDS].filter(
  ({ type, pattern }) => type === "string" && pattern === undefined,
);
const TEXT_FIELDS = OPEN_FIELDS.map(({ name }) => name);

const names = fc.uniqueArray(arbitraryOddText, { minLength: 1, maxLength: 12 });

/** One record of each device in the archive's time and one of today, all its texts odd and each another. */
function reportsOf(devices: readonly string[], texts: readonly string[], times: readonly number[]): Report[] {
  return devices.flatMap((device_id, d) =>
    times.map((timestamp, t) => ({
      device_id,
      timestamp: timestamp + d,
      latitude: 1,
      longitude: 2,
      ...Object.fromEntries(TEXT_FIELDS.map((field, f) => [field, texts[(d + t + f) % texts.length]!])),
    })),
  );
}

/** The texts that such a response shows of a record. */
function textsOf(record: Readonly<Record<string, unknown>>, kind: ResponseKind): string {
  const shown = OPEN_FIELDS.filter(({ responses }) => responses.includes(kind)).map(
    ({ name }) => record[name],
  );
  return JSON.stringify([record.timestamp, record.device_id, ...shown]);
}

async function expectShown(
  app: ArchiveApp,
  path: string,
  kind: ResponseKind,
  records: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const { status, body } = await app.get(path);
  expect([path, status]).toEqual([path, 200]);
  const shown = (body.locations ?? [body.location]).map((record) => textsOf(record, kind));
  expect([path, ...shown.sort()]).toEqual([path, ...records.map((record) => textsOf(record, kind)).sort()]);
}

/** Every answer that shows a text, and every question that names one. */
async function expectAllAnswered(app: ArchiveApp, model: ReferenceRecords): Promise<void> {
  const [records, newest] = [model.records(), model.newest()];
  const dates = "start_date=2026-01-07&end_date=2026-01-28&limit=1000";
  await expectShown(app, `/api/v1/locations/history?${dates}`, "appHistory", records);
  await expectShown(app, "/api/v1/locations/current?limit=1000", "current", newest);
  for (const device of new Set(records.map(({ device_id }) => device_id))) {
    const place = `/api/v1/devices/${encodeURIComponent(device)}/locations`;
    const isOwn = ({ device_id }: (typeof records)[number]) => device_id === device;
    await expectShown(app, `${place}/history?${dates}`, "deviceHistory", records.filter(isOwn));
    await expectShown(app, `${place}/current`, "deviceCurrent", newest.filter(isOwn));
  }
  for (const user of new Set(records.map(({ user_id }) => String(user_id)))) {
    if (user.trim() === "") continue; // Nobody can ask for a user of a blank name.
    const place = `/api/v1/users/${encodeURIComponent(user)}`;
    const isOwn = ({ user_id }: (typeof records)[number]) => user_id === user;
    await expectShown(app, `${place}/locations/history?${dates}`, "userHistory", records.filter(isOwn));
    await expectShown(app, `${place}/locations/current?limit=1000`, "current", newest.filter(isOwn));
  }
}

async function expectKept(devices: readonly string[], texts: readonly string[]): Promise<void> {
  const clock = createManualClock(NOW_MS);
  let app = await createArchiveApp({ clock });
  const model = createReferenceRecords("app");
  const store = async (reports: readonly Report[]) => {
    await app.store(reports);
    model.report(reports);
  };
  try {
    await store(reportsOf(devices, texts, [OLD_MS, OLD_MS + 1000, NOW_MS - 1000]));
    await expectAllAnswered(app, model); // From memory.
    app = await app.restart();
    await expectAllAnswered(app, model); // Out of the log.
    await app.seal();
    await expectAllAnswered(app, model); // Out of the archive.
    await store(reportsOf(devices, texts.toReversed(), [OLD_MS + 1000, OLD_MS + 2000]));
    await expectAllAnswered(app, model); // With late rows laid over.
    app = await app.restart();
    await app.seal();
    clock.advance(DAY_MS);
    await app.seal();
    app = await app.restart();
    await expectAllAnswered(app, model); // Folded, and with the newest records out of the checkpoint.
    expect((await verifyDirectory(app.dataDir, clock)).problems).toEqual([]);
  } finally {
    await app.close();
  }
}

test("all odd texts at once come back as they were sent", () => expectKept(ODD_TEXTS, ODD_TEXTS));

test("any of them do", async () => {
  await fc.assert(fc.asyncProperty(names, names, expectKept), { numRuns: 6 });
});

test("what no text may hold is refused, and changes nothing", async () => {
  const app = await createArchiveApp();
  const good = { device_id: "a", timestamp: NOW_MS, latitude: 1, longitude: 2 };
  for (const text of REFUSED_TEXTS) {
    for (const field of ["device_id", ...TEXT_FIELDS]) {
      const { body } = await app.post([{ ...good, [field]: text }]);
      expect([field, text, body.accepted, body.rejected.length]).toEqual([field, text, 0, 1]);
    }
  }
  expect(app.directory.hot.deviceCount).toBe(0);
  await app.close();
});
