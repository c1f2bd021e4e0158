import { describe, expect, test } from "bun:test";
import { timezone } from "../../../../src/http/parameters/common.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";
import { zoneNames } from "../../../../src/model/time/zone-table.ts";
import { createTestApp } from "../../../support/test-app.ts";
import { BUS, type ReadEndpoint, withQuery } from "../requests.ts";

/** `timezone=` on every endpoint that returns locations: specification §4.1, contract "Timezone". */

const ENDPOINTS = [
  "userCurrent",
  "userHistory",
  "deviceCurrent",
  "deviceHistory",
  "appCurrent",
  "appHistory",
  "nearby",
] as const satisfies readonly ReadEndpoint[];

/** 29 March 2026, an hour after Berlin's clocks went from 02:00 to 03:00. */
const AFTER_CHANGE_MS = Date.UTC(2026, 2, 29, 2);
const CHANGE_MS = AFTER_CHANGE_MS - 3_600_000;

const app = await createTestApp({ startMs: AFTER_CHANGE_MS });
await app.store([{ ...BUS, timestamp: CHANGE_MS - 1 }]);
await app.store([{ ...BUS, timestamp: CHANGE_MS }]);

async function recordsOf(endpoint: ReadEndpoint, query: string) {
  const { status, body } = await app.get(withQuery(endpoint, query));
  if (status !== 200) throw new Error(`${query}: ${body.message}`);
  if (endpoint === "nearby") return body.results.map((result) => result.location);
  return endpoint === "deviceCurrent" ? [body.location] : body.locations;
}

async function localTimes(endpoint: ReadEndpoint, zone: string) {
  const records = await recordsOf(endpoint, `timezone=${encodeURIComponent(zone)}`);
  return records.map((record) => record.local_time);
}

describe.each([...ENDPOINTS])("%s", (endpoint) => {
  const isHistory = endpoint.endsWith("History");

  test("has no local_time unless a zone is asked for", async () => {
    for (const record of await recordsOf(endpoint, "")) expect(record).not.toHaveProperty("local_time");
  });

  test("shows local time on both sides of a clock change", async () => {
    const after = "2026-03-29T03:00:00.000+02:00";
    const before = "2026-03-29T01:59:59.999+01:00";
    expect(await localTimes(endpoint, "Europe/Berlin")).toEqual(isHistory ? [before, after] : [after]);
  });

  test("keeps timestamp in Unix milliseconds", async () => {
    const records = await recordsOf(endpoint, "timezone=Asia/Kathmandu");
    expect(records.at(-1)?.timestamp).toBe(CHANGE_MS);
    const plain = await recordsOf(endpoint, "");
    expect(records.map(({ local_time, ...rest }) => rest)).toEqual([...plain]);
  });

  test.each([
    ["UTC", "2026-03-29T01:00:00.000+00:00"],
    ["GMT", "2026-03-29T01:00:00.000+00:00"],
    ["PST", "2026-03-28T17:00:00.000-08:00"],
    ["MST", "2026-03-28T18:00:00.000-07:00"],
    ["CST", "2026-03-28T19:00:00.000-06:00"],
    ["EST", "2026-03-28T20:00:00.000-05:00"],
    ["America/New_York", "2026-03-28T21:00:00.000-04:00"],
    ["US/Eastern", "2026-03-28T21:00:00.000-04:00"],
    ["Asia/Calcutta", "2026-03-29T06:30:00.000+05:30"],
    ["Asia/Kathmandu", "2026-03-29T06:45:00.000+05:45"],
    ["Etc/GMT+5", "2026-03-28T20:00:00.000-05:00"],
    ["Etc/GMT 5", "2026-03-28T20:00:00.000-05:00"],
    ["Etc/UTC", "2026-03-29T01:00:00.000+00:00"],
    ["Pacific/Kiritimati", "2026-03-29T15:00:00.000+14:00"],
    ["Pacific/Pago_Pago", "2026-03-28T14:00:00.000-11:00"],
    ["+05:30", "2026-03-29T06:30:00.000+05:30"],
    [" 05:30", "2026-03-29T06:30:00.000+05:30"],
    ["-05:30", "2026-03-28T19:30:00.000-05:30"],
    ["+14:00", "2026-03-29T15:00:00.000+14:00"],
    ["-14:00", "2026-03-28T11:00:00.000-14:00"],
    ["+00:00", "2026-03-29T01:00:00.000+00:00"],
    ["-00:00", "2026-03-29T01:00:00.000+00:00"],
  ])("takes the zone %p", async (zone, localTime) => {
    // All of that day, so that the record is found whatever day it is in the zone.
    const dates = isHistory ? "&start_date=2026-03-28&end_date=2026-03-29" : "";
    const records = await recordsOf(endpoint, `timezone=${encodeURIComponent(zone)}${dates}`);
    expect(records.at(-1)?.local_time).toBe(localTime);
  });

  test("takes a plus that the URL turned into a space", async () => {
    const dates = isHistory ? "&start_date=2026-03-28&end_date=2026-03-29" : "";
    const records = await recordsOf(endpoint, `timezone=+05:30${dates}`);
    expect(records.at(-1)?.local_time).toBe("2026-03-29T06:30:00.000+05:30");
  });

  test.each([
    "",
    " ",
    "Mars/Olympus",
    "europe/berlin",
    "EUROPE/BERLIN",
    "Europe/Berlin ",
    "utc",
    "Z",
    "pst",
    "PDT",
    "IST",
    "BST",
    "JST",
    "local",
    "system",
    "UTC+5",
    "GMT+5",
    "+5",
    "+5:30",
    "+0530",
    "+05:60",
    "+14:01",
    "-14:01",
    "+24:00",
    "05:30",
    "5",
    "Etc/GMT  5",
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "<b>",
    'quo"te',
    "zürich",
  ])("refuses the zone %p", async (zone) => {
    const { status, body } = await app.get(withQuery(endpoint, `timezone=${encodeURIComponent(zone)}`));
    const message = `Invalid timezone: ${zone}`;
    expect(status).toBe(400);
    expect(body as unknown).toEqual(
      endpoint === "deviceHistory" ? emptyDeviceHistory("bus", message) : { success: false, message },
    );
  });
});

/** Specification §4.4: an invalid timezone on device history. */
function emptyDeviceHistory(deviceId: string, message: string) {
  return {
    success: false,
    device_id: deviceId,
    locations: [],
    pagination: { count: 0, has_more: false },
    query_info: { time_range: { start: "", end: "" }, data_scanned_mb: 0, query_time_ms: 0 },
    message,
  };
}

test("an invalid zone is told before a device that does not exist", async () => {
  const { status, body } = await app.get("/api/v1/devices/unknown/locations/history?timezone=Mars");
  expect(status).toBe(400);
  expect(body as unknown).toEqual(emptyDeviceHistory("unknown", "Invalid timezone: Mars"));
});

test("the devices of a user have no zone: theirs is a list without local times", async () => {
  const plain = await app.get("/api/v1/users/driver/devices");
  const zoned = await app.get("/api/v1/users/driver/devices?timezone=Mars/Olympus");
  expect(zoned.status).toBe(200);
  expect(zoned.body as unknown).toEqual(plain.body as unknown);
});

test("the pattern of the document fits every name and offset that is a zone, and little else", () => {
  const pattern = new RegExp(String(timezone.schema.pattern), "u");
  const offsets = ["+", "-"].flatMap((sign) =>
    Array.from({ length: 16 * 60 }, (_, minutes) => {
      const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) =>
        String(part).padStart(2, "0"),
      );
      return `${sign}${hour}:${minute}`;
    }),
  );
  for (const name of [...zoneNames(), "PST", "EST", "CST", "MST", "UTC", "GMT", ...offsets]) {
    expect([name, pattern.test(name)]).toEqual([name, parseZone(name) !== null]);
  }
  for (const name of [
    "",
    " ",
    "5",
    "+5",
    "+05",
    "+0530",
    "Mars!",
    "Europe/",
    "/Berlin",
    "UTC\n",
    "Europe//Berlin",
  ]) {
    expect([name, pattern.test(name), parseZone(name)]).toEqual([name, false, null]);
  }
});
