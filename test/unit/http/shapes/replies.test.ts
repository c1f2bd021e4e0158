import { expect, test } from "bun:test";
import { answerOf, WRONG_ZONE } from "../../../reference/answer.ts";
import type { ReferenceAnswer } from "../../../reference/asked.ts";
import { localDate } from "../../../reference/local-time.ts";
import { ENDPOINTS, pathOfQuery, type ReferenceQuery } from "../../../reference/query.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../../reference/records.ts";
import * as fc from "../../../support/fast-check.ts";
import {
  spelledBody,
  storyFault,
  storyFields,
  storyId,
  storyPlace,
} from "../../../support/reports/story-reports.ts";
import { APP_ID, createTestApp, OTHER_APP_ID, type TestApp } from "../../../support/test-app.ts";

/*
 * Goal: replies are, value for value and member for member, what the interface says of the reports that came in, at
 * once and whatever was asked before: nothing that is kept of a record outlives a change of it.
 * Method: stories of reports (new, again with other fields, late, refused), of time that passes and of questions to all
 * endpoints in turn go to the service and to one written the obvious way. Few devices and instants, so that most
 * reports meet a record; two apps with the same devices; times on both sides of a change of clocks.
 */

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const COMPRESSED_BYTES = 1000;

const APPS = [
  { key: "full", appId: APP_ID },
  { key: "other", appId: OTHER_APP_ID },
] as const;

/** Instants at which clocks changed somewhere. */
const CHANGES = [
  Date.UTC(2026, 2, 29, 1), // Berlin, Chatham's the week after
  Date.UTC(2025, 10, 2, 6), // New York
  Date.UTC(2025, 9, 4, 15, 30), // Lord Howe, by half an hour
  Date.UTC(1985, 11, 31, 18, 30), // Kathmandu, from +05:30 to +05:45
];
const ZONES = [
  ...["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Asia/Kolkata"],
  ...["America/St_Johns", "Pacific/Chatham", "+05:30", "-03:00", "+14:00", "-00:00"],
  ...["PST", "MST", "CST", "EST", "UTC", "GMT", WRONG_ZONE],
];

/** From the change of clocks on. */
const INSTANTS = [
  ...[0, -1, 1, 999, -HOUR_MS, HOUR_MS - 1, HOUR_MS, 90 * MINUTE_MS, 2 * HOUR_MS + 1],
  ...[-DAY_MS, -12 * HOUR_MS, -200 * DAY_MS],
];
/** From now on: the last is as far ahead as clocks of devices may run. */
const AGES = [-25 * HOUR_MS, -HOUR_MS, -1, 0, 10 * MINUTE_MS];

const when = fc.oneof(
  fc.constantFrom(...INSTANTS).map((ms) => ({ from: "change", ms }) as const),
  fc.constantFrom(...AGES).map((ms) => ({ from: "now", ms }) as const),
);

const report = fc.record({
  device: fc.nat(),
  user: fc.option(fc.nat(), { freq: 4 }),
  when,
  fields: storyFields,
  fault: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: storyFault }),
});

/** Mostly left out, or hardly anything would pass all filters together. */
const optional = <Value>(value: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

/** The first day of a history, from the one on which clocks change, and how many. */
const days = fc.constantFrom(
  ...[
    { start: -1, count: 3 },
    { start: -1, count: 1 },
    { start: 0, count: 1 },
    { start: 1, count: 1 },
  ],
  ...[
    { start: -200, count: 202 },
    { start: -1, count: 2 },
  ],
);

const questionParts = fc.record({
  device: fc.nat(),
  user: fc.nat(),
  place: storyPlace,
  radius_miles: fc.constantFrom(undefined, 0, 0.5, 50, 50, 50),
  max_age_hours: fc.constantFrom(undefined, 0, 1, 24.5, 9000, 9000, 9000),
  min_accuracy: optional(fc.constantFrom(0, 4.8, 100.5, 1000)),
  accuracy: optional(fc.constantFrom(0, 5, 1000)),
  max_age: optional(fc.constantFrom(0, 3600, 90_000)),
  active_only: optional(fc.boolean()),
  after: optional(when),
  before: optional(when),
  days: fc.option(days, { nil: undefined, freq: 2 }),
  distance: fc.boolean(),
  order: optional(fc.constantFrom("asc", "desc")),
  timezone: optional(fc.nat()),
  limit: optional(fc.constantFrom(1, 2, 5, 1000)),
  offset: optional(fc.constantFrom(0, 1, 3, 1000)),
});

const app = fc.nat(APPS.length - 1);
const reporting = fc.record({
  kind: fc.constant("report" as const),
  app,
  reports: fc.array(report, { minLength: 1, maxLength: 20, size: "max" }),
  isOdd: fc.boolean(),
});
const asking = fc.record({
  kind: fc.constant("ask" as const),
  app,
  parts: questionParts,
  endpoints: fc.shuffledSubarray([...ENDPOINTS], { minLength: 2 }),
  zones: fc.array(fc.nat(), { maxLength: 2 }),
});
const waiting = fc.record({
  kind: fc.constant("wait" as const),
  ms: fc.constantFrom(1, MINUTE_MS, HOUR_MS, DAY_MS, 170 * DAY_MS),
});
const step = fc.oneof(
  { weight: 4, arbitrary: reporting },
  { weight: 4, arbitrary: asking },
  { weight: 1, arbitrary: waiting },
);

const story = fc.record({
  changeMs: fc.constantFrom(...CHANGES),
  devices: fc.uniqueArray(storyId, { minLength: 2, maxLength: 6 }),
  users: fc.uniqueArray(
    storyId.filter((id) => id.trim() !== ""),
    { minLength: 1, maxLength: 3 },
  ),
  zones: fc.shuffledSubarray(ZONES, { minLength: 2, maxLength: 4 }),
  steps: fc
    .tuple(reporting, reporting, fc.array(step, { minLength: 1, maxLength: 24, size: "max" }))
    .map(([first, second, rest]) => [{ ...first, app: 0 }, { ...second, app: 1 }, ...rest]),
});

type Story = typeof story extends fc.Arbitrary<infer Value> ? Value : never;
type Step = Story["steps"][number];
type Parts = Extract<Step, { kind: "ask" }>["parts"];
type When = { readonly from: "change" | "now"; readonly ms: number };

const at = <Value>(values: readonly Value[], index: number): Value => values[index % values.length]!;

test("replies are those of a service written the obvious way, whatever was reported and asked before", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (told) => {
      const { changeMs, steps } = told;
      const app = await createTestApp({ startMs: changeMs + 6 * HOUR_MS });
      const references = APPS.map(({ appId }) => createReferenceRecords(appId));
      for (const step of steps) {
        if (step.kind === "wait") app.clock.advance(step.ms);
        else if (step.kind === "report") await reportToBoth(app, at(references, step.app), told, step);
        else await askBoth(app, at(references, step.app), told, step);
      }
    }),
    { numRuns: 200, interruptAfterTimeLimit: 60_000 },
  );
}, 120_000);

test("pages of a thousand records are those of a service written the obvious way, before and after all are reported again", async () => {
  const app = await createTestApp({ startMs: CHANGES[0]! + 6 * HOUR_MS });
  const reference = createReferenceRecords(APP_ID);
  const minuteMs = (minute: number) => CHANGES[0]! + (minute - 500) * MINUTE_MS;
  const devices = Array.from({ length: 1200 }, (_, row) => ({
    device_id: `\u{1F68C} "${row}"`,
    timestamp: minuteMs(row % 700),
  }));
  const times = Array.from({ length: 1200 }, (_, row) => ({
    device_id: "bus",
    timestamp: minuteMs(row / 2),
  }));
  for (const seed of [1, 2]) {
    const fields = fc.sample(storyFields, { seed, numRuns: devices.length + times.length });
    const reports = [...devices, ...times].map((report, row) => ({
      ...fields[row],
      ...report,
      user_id: "crew",
      latitude: 42.3 + (row % 41) * 0.001,
      longitude: -71 - (row % 37) * 0.001,
    }));
    reference.report(reports.map((report) => JSON.parse(JSON.stringify(report))));
    await app.store(reports);
    for (const timezone of ["Europe/Berlin", undefined, "+05:30"]) {
      for (const offset of [0, 1000, 2000]) {
        for (const endpoint of ENDPOINTS) {
          const page = { latitude: 42.32, longitude: -71.01, limit: 1000, offset, timezone };
          const dates = { start_date: "2026-03-28", end_date: "2026-03-29" };
          const query = { endpoint, device: "bus", user: "crew", parameters: { ...page, ...dates } };
          await expectReply(app, "full", query, answerOf(reference, query, app.clock.nowMs()));
        }
      }
    }
  }
}, 60_000);

function instantOf({ from, ms }: When, nowMs: number, changeMs: number): number {
  return ms + (from === "now" ? nowMs : changeMs);
}

async function reportToBoth(
  app: TestApp,
  reference: ReferenceRecords,
  { devices, users, changeMs }: Story,
  { app: number, reports, isOdd }: Extract<Step, { kind: "report" }>,
): Promise<void> {
  const nowMs = app.clock.nowMs();
  const sent = reports.map(({ device, user, when, fields, fault }) => ({
    device_id: at(devices, device),
    user_id: user === null ? null : at(users, user),
    timestamp: instantOf(when, nowMs, changeMs),
    ...fields,
    ...fault,
  }));
  const isGood = (_: unknown, index: number) => reports[index]!.fault === null;
  const retainedMs = Math.floor(nowMs / DAY_MS) * DAY_MS - 365 * DAY_MS;
  const good = sent.filter(isGood).filter(({ timestamp }) => timestamp >= retainedMs);
  // A -0 is stored as the 0 that JSON shows of it.
  const accepted = reference.report(good.map((report) => JSON.parse(JSON.stringify(report))));

  const response = await app.fetch("/ingest/v1/locations", {
    method: "POST",
    headers: {
      authorization: `Bearer ${app.keys[at(APPS, number).key]}`,
      "content-type": "application/json",
    },
    body: spelledBody(sent, isOdd),
  });
  const { rejected, sequence, ...counts } = await response.json();
  expect(counts).toEqual({ success: true, accepted, duplicates: good.length - accepted });
  expect(rejected.map(({ index }: { index: number }) => index)).toEqual(
    sent.flatMap((report, index) => (good.includes(report) ? [] : [index])),
  );
}

async function askBoth(
  app: TestApp,
  reference: ReferenceRecords,
  told: Story,
  { app: number, parts, endpoints, zones }: Extract<Step, { kind: "ask" }>,
): Promise<void> {
  const { key } = at(APPS, number);
  // The same record in several zones, one after the other, and without one.
  for (const zone of [parts.timezone, ...zones]) {
    for (const endpoint of endpoints) {
      const query = queryOf(endpoint, { ...parts, timezone: zone }, told, app.clock.nowMs());
      await expectReply(app, key, query, answerOf(reference, query, app.clock.nowMs()));
    }
  }
}

function queryOf(
  endpoint: ReferenceQuery["endpoint"],
  parts: Parts,
  told: Story,
  nowMs: number,
): ReferenceQuery {
  const { place, device, user, after, before, days, distance, timezone, ...numbers } = parts;
  const { devices, users, changeMs } = told;
  const zone = timezone === undefined ? undefined : at(told.zones, timezone);
  const dateOf = (day: number) => localDate("UTC", changeMs + day * DAY_MS);
  const dates =
    days === undefined
      ? {}
      : { start_date: dateOf(days.start), end_date: dateOf(days.start + days.count - 1) };
  return {
    endpoint,
    device: at([...devices, ...devices, "nobody", "\u007f\u0000"], device),
    user: at([...users, ...users, "nobody", "\u0085"], user),
    parameters: {
      latitude: place.latitude + 0, // A minus before 0 is shown as JSON shows it, without.
      longitude: place.longitude,
      ...numbers,
      ...dates,
      ...(distance && (days?.count ?? 1) === 1 ? { distance_travelled: true } : {}),
      ...(after === undefined ? {} : { timestamp_after: instantOf(after, nowMs, changeMs) }),
      ...(before === undefined ? {} : { timestamp_before: instantOf(before, nowMs, changeMs) }),
      ...(zone === undefined ? {} : { timezone: zone }),
    },
  };
}

/** Asks by GET and by HEAD. */
async function expectReply(
  app: TestApp,
  key: keyof TestApp["keys"],
  query: ReferenceQuery,
  expected: ReferenceAnswer,
): Promise<void> {
  const path = pathOfQuery(query);
  const headers = { authorization: `Bearer ${app.keys[key]}`, "x-request-id": "same" };
  const response = await app.fetch(path, { headers });
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  const body = comparable(JSON.parse(text), expected.body);
  expect({ path, status: response.status, body }).toEqual({ path, ...expected });
  expect(JSON.stringify(body)).toBe(JSON.stringify(expected.body)); // JsonObject in their order.

  const head = await app.fetch(path, { method: "HEAD", headers });
  expect(await head.text()).toBe("");
  expect(head.status).toBe(response.status);
  // A measured time may take some digits more, and a body with them pass the length from which it is compressed.
  const measuredBytes = text.includes('"query_time_ms":') ? 16 : 0;
  const isBoth = measuredBytes > 0 && Math.abs(bytes.length - COMPRESSED_BYTES) <= measuredBytes;
  const headersOf = ({ headers }: Response) =>
    [...headers].filter(([name]) => name !== "content-length" && !(isBoth && name === "vary"));
  expect(headersOf(head)).toEqual(headersOf(response));
  const length = Number(head.headers.get("content-length"));
  expect(Math.abs(length - bytes.length)).toBeLessThanOrEqual(measuredBytes);
}

type JsonObject = Record<string, unknown>;

/** The body with null for what was measured, and with exact numbers where the right roundings of them are shown. */
function comparable(body: JsonObject, expected: ReferenceAnswer["body"]): JsonObject {
  if ("total_candidates" in body) {
    const { total_matches } = body.pagination as { total_matches: number };
    expect(body.total_candidates).toBeGreaterThanOrEqual(total_matches);
    body.total_candidates = null;
  }
  nullMeasured(body, expected, "query_time_ms");
  nullMeasured(body.query_info, expected.query_info, "query_time_ms");
  nullMeasured(body.query_info, expected.query_info, "data_scanned_mb");
  const exact = expected.results as readonly JsonObject[] | undefined;
  (body.results as readonly JsonObject[] | undefined)?.forEach((result, row) => {
    takeRounded(result, exact?.[row], "distance_miles", 4, 1e-9);
    takeRounded(result, exact?.[row], "bearing_degrees", 2, 1e-5);
  });
  return body;
}

function nullMeasured(owner: unknown, expected: unknown, name: string): void {
  if (typeof owner !== "object" || owner === null || !(name in owner)) return;
  if ((expected as JsonObject)[name] !== null) return; // It wasn't measured.
  expect((owner as JsonObject)[name]).toBeGreaterThanOrEqual(0);
  (owner as JsonObject)[name] = null;
}

/** The service tells distances and bearings by another formula; where that rounds the other way, both are right. */
function takeRounded(
  shown: JsonObject,
  expected: JsonObject | undefined,
  name: string,
  decimals: number,
  offMax: number,
): void {
  const value = shown[name] as number;
  const exact = expected?.[name] as number;
  expect(Number(value.toFixed(decimals))).toBe(value);
  const off = Math.abs(value - exact);
  const turned = name === "bearing_degrees" ? Math.min(off, 360 - off) : off;
  if (turned <= 0.5 * 10 ** -decimals + offMax) shown[name] = exact;
}
