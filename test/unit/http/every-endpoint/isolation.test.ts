import { describe, expect, test } from "bun:test";
import type { Endpoint, KeyedEndpoint } from "../../../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../../../src/http/endpoints.ts";
import { EXAMPLE_REPORT } from "../../../../src/http/shapes/record-schemas.ts";
import { textOf } from "../../../support/event-reader.ts";
import {
  APP_ID,
  createTestApp,
  type KeyName,
  NOON_MS,
  OTHER_APP_ID,
  type TestApp,
} from "../../../support/test-app.ts";
import { correct, giveProfile, quarantine, subscribe, watch, withEntry } from "../quarantined.ts";
import {
  askedWith,
  BUS,
  KEYED,
  nameOf,
  pathsWithEach,
  pathTo,
  READ_PATHS,
  READS,
  takesReports,
} from "../requests.ts";

/**
 * No key sees another app, in data, in counts or in errors. Two apps have the same device and user ids; what
 * each is answered must not change by a single member when the other one reports.
 */

const DAY_MS = 86_400_000;
/** When the examples of the document are news. */
const EXAMPLE_MS = Number(EXAMPLE_REPORT.timestamp);

const PATHS = [
  ...READS.flatMap((endpoint) => [pathTo(endpoint), ...pathsWithEach(endpoint)]).filter(
    (path) => !path.includes("since="), // A place in the log, which all apps share.
  ),
  `${READ_PATHS.userHistory}?start_date=2026-03-01&limit=2`,
  `${READ_PATHS.userHistory}?distance_travelled=true`,
  `${READ_PATHS.deviceHistory}?start_date=2026-03-01&order=desc`,
  `${READ_PATHS.deviceHistory}?distance_travelled=true`,
  `${READ_PATHS.appHistory}?start_date=2026-03-01&min_accuracy=10`,
  `${READ_PATHS.appCurrent}?limit=1`,
  `${READ_PATHS.nearby}&radius_miles=50&max_age_hours=1000`,
  "/api/v1/devices/unknown/locations/current",
  "/api/v1/devices/unknown/locations/history",
  "/api/v1/users/nobody/locations/current",
];

/** What shows the data of an app, or its webhooks. */
const SHOWN = KEYED.filter(
  ({ method, permission }) => method === "GET" && (permission === "read" || permission === "manage"),
);

/** What is sent again says nothing new. */
const CHANGES_NO_ANSWER = ["POST /api/v1/webhooks/:webhookId/redeliver"];

/** What answers without a name of a device. */
const COUNTS_ALONE = ["/api/v1/density"];

/** Every answer to a key, without what is measured, and without numbers of entries: the log is one for all apps. */
async function answers(app: TestApp, key: KeyName) {
  const all: Record<string, unknown> = {};
  for (const path of PATHS) {
    const { status, body } = await app.get(path, key);
    const text = withoutIds(JSON.stringify(body)).replaceAll(
      /"(query_time_ms|sequence)":[\d.e-]+/g,
      '"$1":0',
    );
    all[path] = { status, body: JSON.parse(text) };
  }
  return all;
}

const OWN = [
  { ...BUS, timestamp: NOON_MS - 2000, horizontal_accuracy: 5 },
  { ...BUS, timestamp: NOON_MS - 1000, latitude: 53.41 },
  { ...BUS, device_id: "tram", timestamp: NOON_MS - 3 * DAY_MS },
];

/** The same devices and users, newer, elsewhere and with other values; and some of its own. */
const RIVALS = [
  { ...BUS, timestamp: NOON_MS - 2000, horizontal_accuracy: 1, speed: 9 },
  { ...BUS, timestamp: NOON_MS, latitude: 53.42, brand: "Rival" },
  { ...BUS, device_id: "tram", timestamp: NOON_MS, user_id: "nobody" },
  { ...BUS, device_id: "unknown", timestamp: NOON_MS },
  { ...BUS, device_id: "zeppelin", timestamp: NOON_MS - 5 * DAY_MS },
];

/** Tells the app all of it so often that the doctor finds that the bus repeats itself. */
async function storeOften(app: TestApp, reports: typeof OWN, key?: KeyName): Promise<void> {
  for (let times = 0; times < 10; times++) await app.store(reports, key);
  await quarantine(app, key ?? "full");
  await giveProfile(app, key ?? "full");
  await correct(app, key ?? "full");
  await watch(app, key ?? "full");
  await subscribe(app, key ?? "full");
}

/** Each process has other tags for the same answer. */
const PROCESS_TAG = /\["etag","W[^\]]*\],/;

/** An answer as it is sent, without what is measured; of the newest entry of the quarantine where it is about one. */
async function sent(app: TestApp, endpoint: Endpoint, key: KeyName): Promise<string> {
  const [declared, init] = askedWith(endpoint, app.keys[key], { "x-request-id": "same" });
  const path = await withEntry(app, declared, key);
  const response = await app.fetch(path, init);
  const { status, headers: told } = response;
  const text = withoutIds(await textOf(response));
  return `${status} ${JSON.stringify([...told])} ${text.replace(/"query_time_ms":[\d.e-]+/, "")}`;
}

/** Of events: they are the log's, which all apps share. */
const withoutIds = (stream: string) => stream.replaceAll(/id: \d+/g, "id");

/** Some clients report by GET. */
const changesNothing = (endpoint: Endpoint) => endpoint.method === "GET" && !takesReports(endpoint);

/** An app that many tests only ask, or one that the test may change. */
const appFor = (endpoint: Endpoint, shared: TestApp) => (changesNothing(endpoint) ? shared : createTestApp());

const full = await createTestApp();
await storeOften(full, OWN);
const empty = await createTestApp();

/** What its own app is answered by each endpoint that changes nothing, before another app reports and afterwards. */
const [before, afterwards] = [new Map<Endpoint, string>(), new Map<Endpoint, string>()];
const joined = await createTestApp();
await storeOften(joined, OWN);
for (const answers of [before, afterwards]) {
  for (const endpoint of ENDPOINTS.filter(changesNothing))
    answers.set(endpoint, await sent(joined, endpoint, "full"));
  if (answers === before) await storeOften(joined, RIVALS, "other");
}

/** Every endpoint, so that none can be forgotten: it has to be asked about another app's data, and show none of it. */
describe.each(ENDPOINTS.map((endpoint) => [nameOf(endpoint), endpoint] as const))("%s", (_name, endpoint) => {
  if (READS.includes(endpoint as KeyedEndpoint)) {
    test("is asked here for something that it finds, so that the other tests mean something", async () => {
      const app = await appFor(endpoint, full);
      if (app !== full) await storeOften(app, OWN);
      const found = await sent(app, endpoint, "full");
      expect(found).toStartWith("200 ");
      expect(found).not.toBe(await sent(await appFor(endpoint, empty), endpoint, "full"));
      if (!COUNTS_ALONE.includes(endpoint.path)) expect(found).toContain(BUS.device_id);
    });
  }

  if (!takesReports(endpoint) && endpoint.permission !== "operate") {
    test("answers the same bytes whether another app has reported or not", async () => {
      if (changesNothing(endpoint)) {
        expect(afterwards.get(endpoint)).toBe(before.get(endpoint)!);
        return;
      }
      const app = await createTestApp();
      await storeOften(app, OWN);
      const alone = await sent(app, endpoint, "full");
      if (endpoint.method === "DELETE") await quarantine(app); // What was there is gone.
      await storeOften(app, RIVALS, "other");
      expect(await sent(app, endpoint, "full")).toBe(alone);
    });

    test("answers an app that has nothing as if nobody had anything", async () => {
      const [beside, alone] = [await appFor(endpoint, full), await appFor(endpoint, empty)];
      if (beside !== full) await storeOften(beside, OWN);
      const [told, toldAlone] = [await sent(beside, endpoint, "other"), await sent(alone, endpoint, "other")];
      expect(told.replace(PROCESS_TAG, "")).toBe(toldAlone.replace(PROCESS_TAG, ""));
    });
  }

  if (endpoint.permission === "operate") {
    test("is about all apps together, and names none of them, nor a device or a user", async () => {
      const app = await createTestApp();
      await storeOften(app, OWN);
      await storeOften(app, RIVALS, "other");
      const text = (await sent(app, endpoint, "operator")).replaceAll(/^# .*$/gm, ""); // What it says in words.
      expect(text).toStartWith("200 ");
      const ids = [...OWN, ...RIVALS].flatMap(({ device_id, user_id }) => [device_id, user_id]);
      for (const id of [APP_ID, OTHER_APP_ID, ...ids]) expect(text).not.toMatch(new RegExp(`\\b${id}\\b`));
    });
  }

  if (takesReports(endpoint)) {
    test("changes what its own app is answered, and nothing of what another one is", async () => {
      const app = await createTestApp({ startMs: EXAMPLE_MS });
      await app.store(OWN.map((report) => ({ ...report, timestamp: EXAMPLE_MS })));
      for (const key of ["full", "other"] as const) {
        await giveProfile(app, key);
        await correct(app, key);
        await watch(app, key);
        await subscribe(app, key);
      }
      const all = (key: KeyName) => Promise.all(SHOWN.map((read) => sent(app, read, key)));
      const [before, othersBefore] = [await all("full"), await all("other")];
      expect(await sent(app, endpoint, "other")).toStartWith("200 ");
      expect(await all("full")).toEqual(before);
      if (!CHANGES_NO_ANSWER.includes(nameOf(endpoint))) expect(await all("other")).not.toEqual(othersBefore);
    });
  }
});

test("what an app is answered does not change when another one reports under the same ids", async () => {
  const app = await createTestApp();
  await app.store(OWN);
  const before = await answers(app, "full");
  await app.store(RIVALS, "other");
  expect(await answers(app, "full")).toEqual(before);
});

test("an app that comes second is answered as if it were alone", async () => {
  const alone = await createTestApp();
  await alone.store(RIVALS, "other");
  const second = await createTestApp();
  await second.store(OWN);
  await second.store(RIVALS, "other");
  expect(await answers(second, "other")).toEqual(await answers(alone, "other"));
});

test("an app without a report is empty beside a full one", async () => {
  const empty = await createTestApp();
  const beside = await createTestApp();
  await beside.store(OWN);
  expect(await answers(beside, "other")).toEqual(await answers(empty, "other"));
});

test("a device of another app is refused in the words for one that never was", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, device_id: "theirs", timestamp: NOON_MS }], "other");
  for (const resource of ["current", "history"]) {
    const theirs = await app.get(`/api/v1/devices/theirs/locations/${resource}`);
    const nobodys = await app.get(`/api/v1/devices/nobodys/locations/${resource}`);
    expect(theirs.status).toBe(404);
    expect(JSON.stringify(theirs.body)).toBe(JSON.stringify(nobodys.body).replace("nobodys", "theirs"));
    expect([...theirs.headers.keys()]).toEqual([...nobodys.headers.keys()]);
  }
});

test("the bodies of a device that is not there, to the letter", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS }], "other");
  const current = await app.get(READ_PATHS.deviceCurrent);
  expect(current.status).toBe(404);
  expect(current.body as unknown).toEqual({
    success: false,
    device_id: "bus",
    message: "Device not found or does not belong to your app",
  });
  const history = await app.get(READ_PATHS.deviceHistory);
  expect(history.status).toBe(404);
  expect(history.body as unknown).toEqual({
    success: false,
    device_id: "bus",
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: {
      time_range: { start: "2026-03-20", end: "2026-03-20" },
      data_scanned_mb: 0,
      query_time_ms: 0,
    },
    message: "Device not found or does not belong to your app",
  });
});

test("reports belong to the key's app, whatever they claim", async () => {
  const app = await createTestApp();
  await app.store([{ ...BUS, timestamp: NOON_MS, app_id: "rival", appId: "rival" }]);
  expect((await app.get(READ_PATHS.deviceCurrent)).body.location.app_id).toBe("fleet");
  expect((await app.get(READ_PATHS.deviceCurrent, "other")).status).toBe(404);
});

test("duplicates are counted within an app", async () => {
  const app = await createTestApp();
  const report = { ...BUS, timestamp: NOON_MS };
  expect((await app.post([report])).body).toMatchObject({ accepted: 1, duplicates: 0 });
  expect((await app.post([report], "other")).body).toMatchObject({ accepted: 1, duplicates: 0 });
  expect((await app.post([report], "other")).body).toMatchObject({ accepted: 0, duplicates: 1 });
});
