import { afterAll, expect, test } from "bun:test";
import { decideEvents } from "../../../../src/geofences/decision.ts";
import { parseFence } from "../../../../src/geofences/parse/drafts.ts";
import type { WatchedRecord } from "../../../../src/geofences/watch.ts";
import { createWatchVersion } from "../../../../src/geofences/watch-version.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import type { Report } from "../../../support/reports/batches.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

/* Geofences on the past: from memory and from archived days, with late reports and corrections. */

afterAll(removeArchiveApps);

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const FIRST_MS = Date.UTC(2026, 2, 27);
const END_MS = FIRST_MS + 12 * DAY_MS;

/** Open at daytime in Berlin, where clocks change within the range. */
const FENCE = {
  type: "Feature",
  geometry: { type: "Point", coordinates: [13.4, 52.5] },
  properties: {
    ...{ radius_meters: 200, confirmations: 2, dwell_seconds: 7200, silence_minutes: 90 },
    schedule: {
      timezone: "Europe/Berlin",
      weekly: [{ days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "06:00", to: "22:00" }],
    },
  },
};

interface Preview {
  readonly events: readonly { readonly kind: string; readonly device_id: string; readonly reason?: string }[];
  readonly pagination: Readonly<Record<string, unknown>>;
}

async function preview(
  app: Pick<ArchiveApp, "fetch" | "keys">,
  { fence = FENCE as unknown, query = "", key = "reader" as "reader" | "other" } = {},
): Promise<{ readonly status: number; readonly body: Preview }> {
  const response = await app.fetch(
    `/api/v1/geofences/preview?start=${FIRST_MS}&end=${END_MS}&limit=1000${query}`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${app.keys[key]}`, "content-type": "application/json" },
      body: JSON.stringify(fence),
    },
  );
  return { status: response.status, body: (await response.json()) as Preview };
}

/** The pieces of an answer as they come. */
async function piecesOf(app: Pick<ArchiveApp, "fetch" | "keys">): Promise<readonly string[]> {
  const path = `/api/v1/geofences/preview?start=${FIRST_MS}&end=${END_MS}&limit=1000`;
  const headers = { authorization: `Bearer ${app.keys.reader}`, "content-type": "application/json" };
  const response = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(FENCE) });
  const pieces: string[] = [];
  for await (const bytes of response.body!) pieces.push(new TextDecoder().decode(bytes));
  return pieces;
}

interface Sent extends Report {
  readonly device_id: string;
  readonly user_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly horizontal_accuracy?: number;
}

/** Devices that are mostly inside or far away, for twelve days. */
function createReports(): Sent[] {
  const random = seededRandom(5);
  return ["bus", "tram", "van"].flatMap((device_id) => {
    const reports: Sent[] = [];
    let isInside = false;
    for (let atMs = FIRST_MS; atMs < END_MS - DAY_MS; atMs += (1 + Math.floor(random() * 120)) * MINUTE_MS) {
      if (random() < 0.2) isInside = !isInside;
      const latitude = isInside ? 52.5 + random() * 0.001 : 52.51 + random() * 0.01;
      const accuracy = random() < 0.2 ? {} : { horizontal_accuracy: Math.round(random() * 260) };
      const user_id = `${device_id}-${random() < 0.5 ? 1 : 2}`;
      reports.push({ device_id, user_id, timestamp: atMs, latitude, longitude: 13.4, ...accuracy });
    }
    return reports;
  });
}

/** What the decision alone makes of the reports. */
function expectedOf(reports: readonly Sent[], fence: unknown = FENCE): Preview["events"] {
  const draft = parseFence(fence);
  if (!draft.ok) throw new Error(draft.error);
  const versions = [createWatchVersion(draft.value.terms, 1, FIRST_MS)];
  const watch = { appId: "fleet" as AppId, id: "preview", versions, deletedMs: null };
  const events = ["bus", "tram", "van"].flatMap((id) => {
    const records = reports.filter(({ device_id }) => device_id === id).map(recordOf);
    const ordered = records.sort((a, b) => a.timestampMs - b.timestampMs);
    return decideEvents(watch, id as DeviceId, ordered, END_MS);
  });
  return events
    .sort((a, b) => a.timestampMs - b.timestampMs || (a.id < b.id ? -1 : 1))
    .map(({ kind, timestampMs, deviceId, userId, visitId, ending }) => {
      const common = {
        kind,
        timestamp: timestampMs,
        device_id: deviceId,
        user_id: userId,
        visit_id: visitId,
      };
      if (ending === null) return common;
      const { enteredMs, positions, reason } = ending;
      if (enteredMs === null) return { ...common, positions, reason };
      return {
        ...common,
        entered_at: enteredMs,
        duration_seconds: (timestampMs - enteredMs) / 1000,
        positions,
        reason,
      };
    });
}

function recordOf({ timestamp, user_id, latitude, longitude, horizontal_accuracy }: Sent): WatchedRecord {
  return {
    timestampMs: timestamp,
    userId: user_id as UserId,
    latitude,
    longitude,
    accuracyMeters: horizontal_accuracy ?? null,
    metersPerSecond: null,
    batteryPercent: null,
  };
}

test("a preview answers what the decision makes of all records, from memory and archive, and keeps nothing", async () => {
  const clock = createManualClock(END_MS);
  const app = await createArchiveApp({ clock });
  const reports = createReports();
  const late = reports.filter((_, index) => index % 10 === 3);
  await app.store(reports.filter((_, index) => index % 10 !== 3));
  await app.seal();
  await app.store(late);
  const expected = expectedOf(reports);
  const { status, body } = await preview(app);
  expect([status, body.events]).toEqual([200, expected]);
  expect(new Set(body.events.map(({ kind, reason }) => reason ?? kind))).toEqual(
    new Set(["enter", "dwell", "moved", "silent", "schedule"]),
  );
  await app.seal();
  expect((await preview(app)).body.events).toEqual(body.events);
  const pieces = await piecesOf(app);
  expect(pieces.filter((piece) => piece.includes('"visit_id"')).length).toBeGreaterThan(2);
  expect(JSON.parse(pieces.join(""))).toEqual(body);
  const page = await preview(app, { query: "&offset=3" });
  expect(page.status).toBe(200);
  expect(page.body.events).toEqual(body.events.slice(3));
  expect((await preview(app, { key: "other" })).body.events).toEqual([]);
  const { body: list } = await app.get("/api/v1/geofences", "reader");
  expect(list).toMatchObject({ geofences: [] });
  await app.close();
});

test("a preview follows corrections and the fence's devices", async () => {
  const clock = createManualClock(END_MS);
  const app = await createArchiveApp({ clock });
  const reports = createReports();
  await app.store(reports);
  const properties = { ...FENCE.properties, devices: ["tram", "van"] };
  const fence = { ...FENCE, properties };
  const response = await app.fetch("/api/v1/corrections", {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys.editor}`, "content-type": "application/json" },
    body: JSON.stringify({ action: "hide", device_id: "van", start: FIRST_MS, end: END_MS }),
  });
  expect(response.status).toBe(200);
  const rest = reports.filter(({ device_id }) => device_id === "tram");
  for (const isSealed of [false, true]) {
    if (isSealed) await app.seal();
    const { body } = await preview(app, { fence });
    expect(body.events).toEqual(expectedOf(rest, fence));
    expect(body.events.length).toBeGreaterThan(10);
  }
  await app.close();
});

test("a preview refuses a wrong fence and a wrong range", async () => {
  const app = await createArchiveApp({ clock: createManualClock(END_MS) });
  await app.store(createReports());
  const wrong = await preview(app, { fence: { ...FENCE, properties: { radius_meters: 5 } } });
  expect([wrong.status, wrong.body]).toMatchObject([
    400,
    { message: expect.stringContaining("properties.radius_meters") },
  ]);
  const range = `start=${FIRST_MS}&end=${FIRST_MS}`;
  const headers = { authorization: `Bearer ${app.keys.reader}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(FENCE) };
  expect((await app.fetch(`/api/v1/geofences/preview?${range}`, init)).status).toBe(400);
  await app.close();
});

test("an alert is tried on speed, charge and silence, from memory and from archived days", async () => {
  const app = await createArchiveApp({ clock: createManualClock(END_MS) });
  const report = (minute: number, more: object) => {
    const place = { device_id: "van", latitude: 52, longitude: 13 };
    return { ...place, user_id: "ada", timestamp: FIRST_MS + minute * MINUTE_MS, ...more };
  };
  await app.store([
    report(0, { speed: 10, battery_level: 50 }),
    report(10, { speed: 40, battery_level: 15 }),
    report(20, { speed: 41 }),
    report(30, { speed: 5, battery_level: 30 }),
    report(100, { speed: 5 }),
  ]);
  const tried = async (alert: object) => {
    const path = `/api/v1/alerts/preview?start=${FIRST_MS}&end=${FIRST_MS + DAY_MS}`;
    const headers = { authorization: `Bearer ${app.keys.reader}`, "content-type": "application/json" };
    const response = await app.fetch(path, { method: "POST", headers, body: JSON.stringify(alert) });
    const { events } = (await response.json()) as {
      readonly events: readonly { readonly kind: string; readonly timestamp: number }[];
    };
    return events.map(({ kind, timestamp }) => [kind, (timestamp - FIRST_MS) / MINUTE_MS]);
  };
  for (const isSealed of [false, true]) {
    if (isSealed) await app.seal();
    expect(await tried({ speed_above: 36 })).toEqual([
      ["alert_start", 10],
      ["alert_end", 30],
    ]);
    expect(await tried({ battery_below: 20 })).toEqual([
      ["alert_start", 10],
      ["alert_end", 30],
    ]);
    expect(await tried({ silent_for: 60 })).toEqual([
      ["alert_start", 90],
      ["alert_end", 100],
      ["alert_start", 160],
    ]);
  }
  await app.close();
});
