import { describe, expect, test } from "bun:test";
import type { PointDetails } from "../../../../src/clients/point.ts";
import type { FilePoint, SkipReason } from "../../../../src/formats/read/file-point.ts";
import { WRITE_FORMATS } from "../../../../src/formats/write/formats.ts";
import { BatchQueue } from "../../../../src/import/reading/batch-queue.ts";
import { FilePoints } from "../../../../src/import/reading/file-points.ts";
import { IMPORT_START, type ImportBatch } from "../../../../src/import/reading/import-batch.ts";
import type { ImportRules } from "../../../../src/import/reading/import-rules.ts";
import { NUMBER_FIELDS } from "../../../../src/model/location-fields.ts";
import { recordColumns } from "../../../../src/model/record-columns.ts";
import { addReport } from "../../../../src/model/report.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../../src/model/report-batch.ts";
import * as fc from "../../../support/fast-check.ts";
import { PLAIN_OPTIONS } from "../../formats/write/arbitrary-records.ts";
import { ALL_RULES } from "../support/inputs.ts";

const NOW_MS = Date.UTC(2026, 1, 1);
const TIMES = { oldestMs: NOW_MS - 86_400_000, newestMs: NOW_MS + 600_000 };

interface Setting extends Partial<ImportRules> {
  readonly shiftMs?: number;
  readonly settled?: number;
  readonly oldestMs?: number;
}

type Call = Partial<FilePoint> | { readonly skip: "no_fix" } | { readonly note: "spread" };

/** What comes of a file `ride.gpx` that holds these. */
function read(calls: readonly Call[], setting: Setting = {}): ImportBatch[] {
  const { shiftMs = 0, settled = 0, oldestMs = TIMES.oldestMs, ...rules } = setting;
  const queue = new BatchQueue();
  let place = 0;
  queue.begin(0, { source: 0, label: "ride.gpx", placeUnit: "line" }, { source: 0, things: settled });
  const moment = () => ({ times: { ...TIMES, oldestMs }, shiftMs });
  const sink = new FilePoints(queue, { ...ALL_RULES, ...rules }, moment, "ride", () => place);
  for (const call of calls) {
    place++;
    if ("skip" in call) sink.skip(call.skip);
    else if ("note" in call) sink.note(call.note);
    else sink.add(pointOf(call));
  }
  queue.end();
  queue.flush();
  const batches: ImportBatch[] = [];
  for (let batch = queue.take(); batch !== null; batch = queue.take()) batches.push(batch);
  return batches;
}

function pointOf(point: Partial<FilePoint>): FilePoint {
  return {
    timestampMs: NOW_MS,
    latitude: 52.5,
    longitude: 13.4,
    device: null,
    user: null,
    details: {},
    ...point,
  };
}

/** One batch as rows, with skips and remarks. */
function told(calls: readonly Call[], setting: Setting = {}) {
  const [batch, more] = read(calls, setting);
  expect(more).toBeUndefined();
  const { skips = [], remarks = [], leftOut = [], unreadable = [] } = batch ?? {};
  return {
    rows: batch === undefined ? [] : rows(batch.batch),
    skips: skips.map(({ reason, place }) => [reason, place]),
    remarks: Object.fromEntries(remarks),
    leftOut: Object.fromEntries(leftOut),
    unreadable: Object.fromEntries(unreadable),
  };
}

/** A batch as NDJSON has it. */
function rows(batch: ReportBatch): Record<string, unknown>[] {
  const writer = WRITE_FORMATS.find(({ name }) => name === "ndjson")!.create(PLAIN_OPTIONS);
  const text = new TextDecoder().decode(writer.write(recordColumns(batch)));
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

describe("a point", () => {
  test("is skipped for the first thing that keeps it from being a report", () => {
    const lines: [Partial<FilePoint>, SkipReason][] = [
      [{ latitude: null, timestampMs: null }, "no_position"],
      [{ longitude: null }, "no_position"],
      [{ latitude: 90.1 }, "bad_coordinates"],
      [{ longitude: Number.NaN }, "bad_coordinates"],
      [{ latitude: 0, longitude: -0 }, "null_island"],
      [{ timestampMs: null }, "no_time"],
      [{ timestampMs: Number.NaN }, "bad_time"],
      [{ timestampMs: 1000 }, "early_time"],
      [{ timestampMs: -1 }, "early_time"],
      [{ timestampMs: TIMES.oldestMs - 1 }, "too_old"],
      [{ timestampMs: TIMES.newestMs + 1 }, "future"],
      [{ device: "\u0000" }, "bad_device"],
    ];
    expect(told(lines.map(([point]) => point)).skips).toEqual(
      lines.map(([, reason], index) => [reason, index + 1]),
    );
  });

  test("is of the device that is said, else of its own, else of its file", () => {
    const calls = [{ device: "pixel" }, {}, { device: "a\u0007b" }, { device: "x".repeat(200) }];
    const devices = (setting: Setting) => told(calls, setting).rows.map(({ device_id }) => device_id);
    expect(devices({})).toEqual(["pixel", "ride", "ab", expect.stringMatching(/^x{119}~[0-9a-f]{8}$/)]);
    expect(devices({ deviceId: "mine" as never })).toEqual(["mine", "mine", "mine", "mine"]);
  });

  test("is of the user that is said, else of its own, else of none", () => {
    const calls = [{ user: "anna" }, {}, { user: "\u0000" }];
    const users = (setting: Setting) => told(calls, setting).rows.map(({ user_id }) => user_id);
    expect(users({})).toEqual(["anna", undefined, undefined]);
    expect(users({ userId: "me" as never })).toEqual(["me", "me", "me"]);
  });

  test("loses what can't be, and nothing else", () => {
    const details: PointDetails = { speed: -1, altitude: 30, bearing: 361, type: "x".repeat(129), os: "ios" };
    const { rows, leftOut } = told([{ details }]);
    expect(rows[0]).toMatchObject({ altitude: 30, os: "ios" });
    expect(Object.keys(rows[0]!)).not.toContain("speed");
    expect(leftOut).toEqual({ speed: 1, bearing: 1, type: 1 });
  });

  test("is moved before anything of its time is judged", () => {
    const range = { startMs: NOW_MS, endMs: NOW_MS + 1000 };
    const { rows, skips } = told(
      [{ timestampMs: NOW_MS - 3_600_000 }, { timestampMs: NOW_MS }, { timestampMs: NOW_MS - 3_599_000 }],
      { shiftMs: 3_600_000, range },
    );
    expect(rows.map(({ timestamp }) => timestamp)).toEqual([NOW_MS]);
    expect(skips).toEqual([
      ["out_of_range", 2],
      ["out_of_range", 3],
    ]);
  });

  test("has its time in whole milliseconds", () => {
    expect(told([{ timestampMs: NOW_MS + 0.75 }]).rows[0]).toMatchObject({ timestamp: NOW_MS });
  });

  test("becomes the report that a person would write of it", () => {
    const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
    const number = fc.constantFrom(0, 4.8, 99.9, -0);
    const text = fc.constantFrom("", "true", "MOVING", "ride");
    const point = fc.record({
      timestampMs: fc.integer({ min: NOW_MS - 9, max: NOW_MS }),
      latitude: fc.constantFrom(52.5, -0, 90),
      longitude: fc.constantFrom(13.4, -180),
      device: fc.constantFrom(null, "a", "b"),
      user: fc.constantFrom(null, "a", "anna"),
      details: fc.record({
        horizontal_accuracy: maybe(number),
        vertical_accuracy: maybe(number),
        altitude: maybe(number),
        speed: maybe(number),
        bearing: maybe(number),
        battery_level: maybe(number),
        battery_status: maybe(text),
        network_status: maybe(fc.boolean()),
        type: maybe(text),
        tracking_mode: maybe(text),
        is_mock: maybe(fc.boolean()),
        os: maybe(text),
        app_version_code: maybe(text),
      }),
    });
    fc.assert(
      fc.property(fc.array(point, { maxLength: 20 }), (points) => {
        const builder = createReportBatchBuilder(points.length);
        for (const { timestampMs, device, user, details, ...position } of points) {
          const report = { ...details, ...position, device_id: device ?? "ride", user_id: user };
          const anyTime = { oldestMs: 0, newestMs: Number.MAX_SAFE_INTEGER };
          expect(addReport({ ...report, timestamp: timestampMs }, anyTime, builder)).toBeNull();
        }
        expect(told(points as Partial<FilePoint>[]).rows).toEqual(rows(builder.build()));
        expect(NUMBER_FIELDS.length).toBe(8); // A new one must be told of by points, or not.
      }),
    );
  });
});

describe("points beside each other", () => {
  test("1,024 weeks apart, or before 2000, have a receiver's wrong week", () => {
    const weekMs = 604_800_000;
    const anyAge = { oldestMs: 0 };
    expect(told([{ timestampMs: NOW_MS - 1024 * weekMs + 5000 }, {}], anyAge).remarks).toEqual({
      suspicious_time: 1,
    });
    expect(told([{ timestampMs: Date.UTC(1999, 7, 22) }], anyAge).remarks).toEqual({ suspicious_time: 1 });
    expect(told([{ timestampMs: NOW_MS - 1000 * weekMs }, {}], anyAge).remarks).toEqual({});
  });

  test("have what was noted before them said of them alone, and only if they are taken", () => {
    expect(told([{ note: "spread" }, {}, { timestampMs: NOW_MS - 1 }]).remarks).toEqual({ spread: 1 });
    expect(told([{ note: "spread" }, { skip: "no_fix" }, {}]).remarks).toEqual({});
    expect(told([{ note: "spread" }, { timestampMs: null }, {}]).remarks).toEqual({});
  });
});

test("what is settled is not told again, and the rest is as if it were", () => {
  const call = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        timestampMs: fc.constantFrom(NOW_MS, NOW_MS - 1),
        latitude: fc.constantFrom(1, 2),
      }),
    },
    fc.constantFrom<Call>({ skip: "no_fix" }, { note: "spread" }, { timestampMs: null }),
  );
  fc.assert(
    fc.property(fc.array(call, { maxLength: 30 }), fc.nat(30), (calls, at) => {
      const isThing = (each: Call) => !("note" in each);
      const settled = calls.slice(0, at).filter(isThing).length;
      // A note without its point yet is of the rest.
      const cut = calls.slice(0, at).findLastIndex(isThing) + 1;
      const [whole, first, rest] = [told(calls), told(calls.slice(0, cut)), told(calls, { settled })];
      expect([...first.rows, ...rest.rows]).toEqual(whole.rows);
      expect([...first.skips, ...rest.skips]).toEqual(whole.skips);
      const sum = (remark: string) => (first.remarks[remark] ?? 0) + (rest.remarks[remark] ?? 0);
      for (const remark of ["leap_second", "spread"]) expect(sum(remark)).toBe(whole.remarks[remark] ?? 0);
    }),
    { numRuns: 300 },
  );
});

test("a batch is full at 10,000 things, and says how far it goes", () => {
  const calls = Array.from({ length: 25_000 }, (_, i): Call => (i % 2 === 0 ? {} : { skip: "no_fix" }));
  const batches = read(calls);
  expect(batches.map(({ batch, skips, end }) => [batch.count, skips.length, end])).toEqual([
    [5000, 5000, { source: 0, things: 10_000 }],
    [5000, 5000, { source: 0, things: 20_000 }],
    [2500, 2500, { source: 1, things: 0 }],
  ]);
  expect(IMPORT_START).toEqual({ source: 0, things: 0 });
});
