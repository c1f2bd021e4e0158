import { afterAll, expect, test } from "bun:test";
import { createArchiveApp, removeArchiveApps } from "../../support/archive-app.ts";
import { textOf } from "../../support/event-reader.ts";
import * as fc from "../../support/fast-check.ts";
import type { Report } from "../../support/reports/batches.ts";
import { createTestApp, type KeyName, type TestApp } from "../../support/test-app.ts";
import { arbitraryRequests } from "./support/arbitrary-requests.ts";
import { KEYED_OPERATIONS, plainPath } from "./support/operations.ts";

/*
 * Goal: what an app is answered does not depend on whether another one has data, in a single byte, through every
 * operation of the document. Method: two apps with random fleets that share ids and places, in memory, archived
 * and late; one service holds both, another one alone. Answers are compared whole, less the time they took.
 */

afterAll(removeArchiveApps);

const RUNS_IN_MEMORY = 15;
const RUNS_WITH_ARCHIVE = Math.ceil(RUNS_IN_MEMORY / 5);
const QUESTIONS = 80;
const MS_PER_DAY = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 28, 12);

const DEVICES = ["bus", "tram", "ferry", "O'Hara", "\u{1f68c}", "rival-only"];
const USERS = ["driver", "50%", "nobody"];
const known = {
  devices: DEVICES,
  users: USERS,
  fences: DEVICES,
  alerts: DEVICES,
  webhooks: DEVICES,
  nowMs: NOW_MS,
};

/** Paths of reads that answer with records of devices. */
const OF_POSITIONS = [
  "/api/v1/devices/nearby",
  "/api/v1/users/{user_id}/locations/current",
  "/api/v1/users/{user_id}/locations/history",
  "/api/v1/users/{user_id}/devices",
  "/api/v1/devices/{deviceId}/locations/current",
  "/api/v1/devices/{deviceId}/locations/history",
  "/api/v1/devices/{deviceId}/series",
  "/api/v1/devices/{deviceId}/stops",
  "/api/v1/devices/{deviceId}/track",
  "/api/v1/devices/{deviceId}/days",
  "/api/v1/devices/{deviceId}/outliers",
  "/api/v1/devices/{deviceId}/last-requests",
  "/api/v1/devices",
  "/api/v1/locations/current",
  "/api/v1/locations/current/columns",
  "/api/v1/locations/history",
  "/api/v1/export",
  "/api/v1/tracks",
];

const READS = KEYED_OPERATIONS.filter(({ method }) => method === "GET");

/** Reports of one app, in the two parts between which what is due is sealed. */
interface Fleet {
  readonly before: readonly Report[];
  readonly after: readonly Report[];
}

const fleets: fc.Arbitrary<Fleet> = fc.record({ before: reportsOf(), after: reportsOf() });

function reportsOf(): fc.Arbitrary<readonly Report[]> {
  const report = fc.record({
    device_id: fc.constantFrom(...DEVICES),
    user_id: fc.constantFrom(...USERS),
    timestamp: fc
      .record({ day: fc.integer({ min: 0, max: 14 }), minute: fc.integer({ min: 0, max: 5 }) })
      .map(({ day, minute }) => NOW_MS - day * MS_PER_DAY - minute * 60_000),
    latitude: fc.integer({ min: 0, max: 3 }).map((step) => 53.4 + step / 100),
    longitude: fc.integer({ min: 0, max: 3 }).map((step) => -2.9 + step / 100),
    horizontal_accuracy: fc.integer({ min: 0, max: 40 }),
    speed: fc.integer({ min: 0, max: 3 }),
  });
  return fc.array(report, { minLength: 1, maxLength: 25 });
}

/** Every device with every user on days in memory and before: where something can be found, it is. */
const FULL: Fleet = { before: fullReports(1), after: fullReports(0) };

function fullReports(minute: number): readonly Report[] {
  return [0, 1, 6, 8, 14].flatMap((day) =>
    DEVICES.flatMap((device_id) =>
      USERS.map((user_id, place) => ({
        device_id,
        user_id,
        timestamp: NOW_MS - day * MS_PER_DAY - minute * 60_000 - place * 1000,
        latitude: 53.4,
        longitude: -2.9 + place / 100,
        horizontal_accuracy: 5,
        speed: place,
      })),
    ),
  );
}

/** Something to ask: made up from the document, and each operation once as plainly as it goes. */
function questions(seed: number): readonly string[] {
  const [{ full }, plain] = [
    fixedKeys,
    READS.flatMap((read) => USERS.map((user, i) => plainPath(read, DEVICES[i]!, user))),
  ];
  const madeUp = fc.sample(arbitraryRequests(known, { full } as TestApp["keys"]), {
    numRuns: QUESTIONS * 2,
    seed,
  });
  const reads = madeUp.filter(
    ({ operation, path }) => READS.includes(operation) && !PLACES_IN_LOG.test(path),
  );
  return [...plain, ...reads.map(({ path }) => path)];
}

/** All apps share the log, so after how much of it a stream begins is another question where another app reports. */
const PLACES_IN_LOG = /[?&]since=/;

/** Keys play no part in the paths that are made up. */
const fixedKeys = { full: "wh_none" };

interface Service extends TestApp {
  seal(): Promise<unknown>;
}

async function fill(service: Service, fleetsByKey: readonly (readonly [KeyName, Fleet])[]): Promise<void> {
  for (const [key, { before }] of fleetsByKey) await service.store(before, key);
  await service.seal();
  for (const [key, { after }] of fleetsByKey) await service.store(after, key);
}

/** What was asked that had records in its answer. */
const foundPaths = new Set<string>();

/**
 * What is measured: the time, the log, which all apps share, and where DuckDB reads, the bytes of blocks that may hold
 * records of several apps.
 */
const MEASURED_IN_MEMORY = /"(query_time_ms|sequence)":[\d.e-]+|^id: \d+$/gm;
const MEASURED_IN_ARCHIVE = /"(query_time_ms|sequence|data_scanned_mb)":[\d.e-]+|^id: \d+$/gm;

/** Entity tags, of which each process has others, and the place of the app's last entry in that log. */
const OTHERWISE_ELSEWHERE = ["etag", "wherehouse-sequence"];

async function answersOf(
  service: Service,
  paths: readonly string[],
  measured: RegExp,
): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${service.keys.full}`, "x-request-id": "same" };
  const answers: string[] = [];
  for (const path of paths) {
    const response = await service.fetch(path, { headers });
    const text = (await textOf(response)).replace(measured, "");
    const told = [...response.headers].filter(([name]) => !OTHERWISE_ELSEWHERE.includes(name));
    answers.push(`${path}\n${response.status}\n${JSON.stringify(told)}\n${text}`);
    if (response.status === 200 && text.includes('"device_id":')) foundPaths.add(path);
  }
  return answers;
}

async function expectSame(
  open: () => Promise<Service>,
  measured: RegExp,
  [own, rivals, isFirst, seed]: readonly [Fleet, Fleet, boolean, number],
): Promise<void> {
  const [alone, together] = [await open(), await open()];
  await fill(alone, [["full", own]]);
  const both = [["full", own] as const, ["other", rivals] as const];
  await fill(together, isFirst ? both : both.toReversed());
  const paths = questions(seed);
  expect(await answersOf(together, paths, measured)).toEqual(await answersOf(alone, paths, measured));
}

const cases = fc.tuple(fleets, fleets, fc.boolean(), fc.integer());

test("an app's answers from memory are the same bytes beside another app as alone", async () => {
  const open = async () => ({ ...(await createTestApp({ startMs: NOW_MS })), seal: async () => {} });
  await fc.assert(
    fc.asyncProperty(cases, (each) => expectSame(open, MEASURED_IN_MEMORY, each)),
    { numRuns: RUNS_IN_MEMORY, examples: [[[FULL, FULL, true, 1]]] },
  );
  const asked = [...foundPaths];
  expect(OF_POSITIONS.filter((path) => !asked.some((each) => matches(path, each)))).toEqual([]);
});

test("and so are those from the archive, with late records over it", async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (each) => {
      const opened: Awaited<ReturnType<typeof createArchiveApp>>[] = [];
      const open = async () => {
        const app = await createArchiveApp({ startMs: NOW_MS });
        opened.push(app);
        return app;
      };
      try {
        await expectSame(open, MEASURED_IN_ARCHIVE, each);
      } finally {
        for (const app of opened) await app.close();
      }
    }),
    { numRuns: RUNS_WITH_ARCHIVE, endOnFailure: true }, // Opening archives takes too long to shrink.
  );
});

test("every operation with a key is asked here, or changes something", () => {
  const others = KEYED_OPERATIONS.filter((each) => !READS.includes(each)).map(({ name }) => name);
  // These are asked by test/unit/http/every-endpoint/isolation.test.ts.
  expect(others).toEqual([
    "PUT /api/v1/devices/{deviceId}/profile",
    "DELETE /api/v1/devices/{deviceId}/profile",
    "POST /api/v1/geofences",
    "POST /api/v1/geofences/import",
    "POST /api/v1/geofences/preview",
    "POST /api/v1/alerts/preview",
    "PUT /api/v1/geofences/{geofenceId}",
    "DELETE /api/v1/geofences/{geofenceId}",
    "POST /api/v1/alerts",
    "PUT /api/v1/alerts/{alertId}",
    "DELETE /api/v1/alerts/{alertId}",
    "POST /api/v1/webhooks",
    "PUT /api/v1/webhooks/{webhookId}",
    "DELETE /api/v1/webhooks/{webhookId}",
    "POST /api/v1/webhooks/{webhookId}/pause",
    "POST /api/v1/webhooks/{webhookId}/resume",
    "POST /api/v1/webhooks/{webhookId}/rotate",
    "POST /api/v1/webhooks/{webhookId}/redeliver",
    "POST /api/v1/webhooks/{webhookId}/test",
    "POST /api/v1/corrections",
    "DELETE /api/v1/corrections/{correctionId}",
    "POST /api/v1/erasures",
    "DELETE /api/v1/quarantine/{entryId}",
    "POST /api/v1/quarantine/{entryId}/replay",
    "POST /ingest/v1/locations",
    "POST /api/v1/imports",
  ]);
  expect(READS.length).toBeGreaterThanOrEqual(8);
  for (const { path } of READS)
    expect(questions(1).filter((asked) => matches(path, asked)).length).toBeGreaterThan(2);
});

function matches(path: string, asked: string): boolean {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]*")}(\\?|$)`).test(asked);
}
