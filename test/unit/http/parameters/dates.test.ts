import { describe, expect, test } from "bun:test";
import { createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { BUS, type ReadEndpoint, withQuery } from "../requests.ts";

/** Which days a history covers: contract §2, §3 ("time_range") and "Timezone". */

const HISTORIES = ["userHistory", "deviceHistory", "appHistory"] as const satisfies readonly ReadEndpoint[];

const app = await createTestApp();
await app.store([{ ...BUS, timestamp: NOON_MS }]);

async function refusal(endpoint: ReadEndpoint, query: string) {
  const { status, body } = await app.get(withQuery(endpoint, query));
  return { status, body: body as unknown };
}

async function rangeOf(endpoint: ReadEndpoint, query: string) {
  const { status, body } = await app.get(withQuery(endpoint, query));
  return status === 200 ? body.query_info.time_range : body.message;
}

describe.each([...HISTORIES])("%s", (endpoint) => {
  test.each(["start_date", "end_date"])("refuses a %s that is none, or does not exist", async (name) => {
    const none = [
      "",
      "today",
      "2026-3-20",
      "2026-03-20 ",
      " 2026-03-20",
      "20260320",
      "2026/03/20",
      "20-03-2026",
      "2026-03-20T00:00:00Z",
      "2026-W12-5",
      "2026-079",
      "1774008000000",
      "+002026-03-20",
      "-001-03-20",
      "２０２６-03-20",
    ];
    const absent = [
      "2026-02-29",
      "2026-02-30",
      "2026-04-31",
      "2026-13-01",
      "2026-00-10",
      "2026-01-00",
      "2100-02-29",
      "0000-01-01",
    ];
    for (const value of [...none, ...absent]) {
      expect(await refusal(endpoint, `${name}=${encodeURIComponent(value)}`)).toEqual({
        status: 400,
        body: { success: false, message: `${name} must be an existing date, as YYYY-MM-DD` },
      });
    }
  });

  test("covers today where no date is given", async () => {
    expect(await rangeOf(endpoint, "")).toEqual({
      start: "2026-03-20T00:00:00.000Z",
      end: "2026-03-20T23:59:59.999Z",
    });
  });

  test("takes today for the date that is left out", async () => {
    expect(await rangeOf(endpoint, "start_date=2026-03-18")).toEqual({
      start: "2026-03-18T00:00:00.000Z",
      end: "2026-03-20T23:59:59.999Z",
    });
    expect(await rangeOf(endpoint, "end_date=2026-03-21")).toEqual({
      start: "2026-03-20T00:00:00.000Z",
      end: "2026-03-21T23:59:59.999Z",
    });
  });

  test("refuses dates that run backwards", async () => {
    const backwards = {
      status: 400,
      body: { success: false, message: "start_date must not be after end_date" },
    };
    expect(await refusal(endpoint, "start_date=2026-03-20&end_date=2026-03-19")).toEqual(backwards);
    expect(await refusal(endpoint, "start_date=2026-03-21")).toEqual(backwards);
    expect(await refusal(endpoint, "end_date=2026-03-19")).toEqual(backwards);
    expect(await refusal(endpoint, "start_date=9999-12-31&end_date=0001-01-01")).toEqual(backwards);
  });

  test("covers 366 days and refuses 367", async () => {
    expect(await rangeOf(endpoint, "start_date=2024-01-01&end_date=2024-12-31")).toEqual({
      start: "2024-01-01T00:00:00.000Z",
      end: "2024-12-31T23:59:59.999Z",
    });
    const tooMany = {
      status: 400,
      body: { success: false, message: "start_date to end_date must be at most 366 days" },
    };
    expect(await refusal(endpoint, "start_date=2024-01-01&end_date=2025-01-01")).toEqual(tooMany);
    expect(await rangeOf(endpoint, "start_date=2025-03-20")).toMatchObject({
      start: "2025-03-20T00:00:00.000Z",
    });
    expect(await refusal(endpoint, "start_date=2025-03-19")).toEqual(tooMany);
    // Days are counted on the calendar: 366 of them stay 366 in a zone whose clocks changed.
    const zoned = "timezone=America/New_York&start_date=2025-03-09&end_date=";
    expect(await rangeOf(endpoint, `${zoned}2026-03-09`)).toEqual({
      start: "2025-03-09T05:00:00.000Z",
      end: "2026-03-10T03:59:59.999Z",
    });
    expect(await refusal(endpoint, `${zoned}2026-03-10`)).toEqual(tooMany);
  });

  test("takes the first and the last year there is", async () => {
    expect(await rangeOf(endpoint, "start_date=0001-01-01&end_date=0001-01-01")).toEqual({
      start: "0001-01-01T00:00:00.000Z",
      end: "0001-01-01T23:59:59.999Z",
    });
    expect(await rangeOf(endpoint, "start_date=9999-12-31&end_date=9999-12-31")).toEqual({
      start: "9999-12-31T00:00:00.000Z",
      end: "9999-12-31T23:59:59.999Z",
    });
  });

  test.each([
    ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T21:59:59.999Z"], // 23 hours
    ["Europe/Berlin", "2025-10-26", "2025-10-25T22:00:00.000Z", "2025-10-26T22:59:59.999Z"], // 25 hours
    ["America/New_York", "2026-03-08", "2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.999Z"],
    ["Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00.000Z", "2026-04-05T13:29:59.999Z"], // 24.5 hours
    ["America/Santiago", "2025-09-07", "2025-09-07T04:00:00.000Z", "2025-09-08T02:59:59.999Z"], // No midnight
    ["Asia/Kathmandu", "2026-03-20", "2026-03-19T18:15:00.000Z", "2026-03-20T18:14:59.999Z"],
    ["Pacific/Kiritimati", "2026-03-20", "2026-03-19T10:00:00.000Z", "2026-03-20T09:59:59.999Z"],
    ["%2B14:00", "2026-03-20", "2026-03-19T10:00:00.000Z", "2026-03-20T09:59:59.999Z"],
    ["-03:30", "2026-03-20", "2026-03-20T03:30:00.000Z", "2026-03-21T03:29:59.999Z"],
    ["EST", "2026-07-01", "2026-07-01T05:00:00.000Z", "2026-07-02T04:59:59.999Z"], // Fixed, all year
    ["UTC", "2026-03-20", "2026-03-20T00:00:00.000Z", "2026-03-20T23:59:59.999Z"],
  ])("knows the day of %s on %s", async (zone, date, start, end) => {
    const query = `timezone=${zone}&start_date=${date}&end_date=${date}`;
    expect(await rangeOf(endpoint, query)).toEqual({ start, end });
  });

  test("returns what lies in the zone's day, and nothing beside it", async () => {
    const own = await createTestApp({ startMs: Date.UTC(2026, 2, 31, 12) });
    // 2026-03-29 in Berlin has 23 hours: 28 March 23:00 UTC to 29 March 22:00 UTC.
    const startMs = Date.UTC(2026, 2, 28, 23);
    const endMs = Date.UTC(2026, 2, 29, 22);
    const times = [startMs - 1, startMs, startMs + 12_345_678, endMs - 1, endMs];
    await own.store(times.map((timestamp) => ({ ...BUS, timestamp })));
    const timesOn = async (date: string) => {
      const query = `timezone=Europe/Berlin&start_date=${date}&end_date=${date}`;
      return (await own.get(withQuery(endpoint, query))).body.locations.map(({ timestamp }) => timestamp);
    };
    expect(await timesOn("2026-03-28")).toEqual([startMs - 1]);
    expect(await timesOn("2026-03-29")).toEqual([startMs, startMs + 12_345_678, endMs - 1]);
    expect(await timesOn("2026-03-30")).toEqual([endMs]);
  });

  test("takes today from the zone that was asked for", async () => {
    const midnight = await createTestApp({ startMs: Date.UTC(2026, 2, 20, 23, 30) });
    await midnight.store([{ ...BUS, timestamp: midnight.clock.nowMs() }]);
    const startIn = async (zone: string) => {
      const { body } = await midnight.get(withQuery(endpoint, `timezone=${zone}`));
      return body.query_info.time_range.start;
    };
    expect(await startIn("UTC")).toBe("2026-03-20T00:00:00.000Z");
    expect(await startIn("Europe/Berlin")).toBe("2026-03-20T23:00:00.000Z"); // Already the 21st.
    expect(await startIn("America/New_York")).toBe("2026-03-20T04:00:00.000Z");
    expect(await startIn("Pacific/Kiritimati")).toBe("2026-03-20T10:00:00.000Z"); // 13:30 on the 21st.
    expect(await startIn("%2B00:30")).toBe("2026-03-20T23:30:00.000Z"); // Midnight this instant.
    expect(await startIn("%2B00:29")).toBe("2026-03-19T23:31:00.000Z"); // A minute before it.
  });
});

test("an unknown device is answered with the dates that were asked for", async () => {
  const ask = async (query: string) => {
    const { status, body } = await app.get(`/api/v1/devices/unknown/locations/history?${query}`);
    return { status, body: body as unknown };
  };
  const envelope = (start: string, end: string) => ({
    status: 404,
    body: {
      success: false,
      device_id: "unknown",
      locations: [],
      pagination: { count: 0, has_more: false },
      query_info: { time_range: { start, end }, data_scanned_mb: 0, query_time_ms: 0 },
      message: "Device not found or does not belong to your app",
    },
  });
  expect(await ask("")).toEqual(envelope("2026-03-20", "2026-03-20"));
  expect(await ask("start_date=2026-01-01&end_date=2026-01-31")).toEqual(
    envelope("2026-01-01", "2026-01-31"),
  );
  expect(await ask("timezone=%2B14:00")).toEqual(envelope("2026-03-21", "2026-03-21"));
});
