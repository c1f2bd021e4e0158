import { describe, expect, test } from "bun:test";
import { PROFILE_FIELDS, REPORT_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import { addReport } from "../../../src/model/report.ts";
import { createReportBatchBuilder } from "../../../src/model/report-batch.ts";
import * as fc from "../../support/fast-check.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const TIMES = { oldestMs: NOW_MS - 365 * 86_400_000, newestMs: NOW_MS + 600_000 };
const GOOD = { device_id: "d", timestamp: NOW_MS, latitude: 1, longitude: 2 };

function faultOf(report: unknown): string | null {
  const builder = createReportBatchBuilder(1);
  const fault = addReport(report, TIMES, builder);
  expect(builder.count).toBe(fault === null ? 1 : 0);
  return fault;
}

test("addReport() takes the least report, and every field as null or left out", () => {
  expect(faultOf(GOOD)).toBeNull();
  for (const { name, required } of REPORT_FIELDS) {
    if (required) expect(faultOf({ ...GOOD, [name]: null })).toBe(`${name} is required`);
    else expect(faultOf({ ...GOOD, [name]: null })).toBeNull();
  }
});

test("addReport() takes numbers at their bounds and names the bound that one breaks", () => {
  const bounds: [string, number, number][] = [
    ["latitude", -90, 90],
    ["longitude", -180, 180],
    ["horizontal_accuracy", 0, 10_000_000],
    ["vertical_accuracy", 0, 10_000_000],
    ["altitude", -20_000, 100_000_000],
    ["speed", 0, 1_000_000],
    ["bearing", 0, 360],
    ["battery_level", 0, 100],
  ];
  for (const [name, minimum, maximum] of bounds) {
    expect(faultOf({ ...GOOD, [name]: minimum })).toBeNull();
    expect(faultOf({ ...GOOD, [name]: maximum })).toBeNull();
    for (const outside of [minimum - 0.001, maximum + 0.001, Infinity, -Infinity, NaN]) {
      expect(faultOf({ ...GOOD, [name]: outside })).toBe(`${name} must be between ${minimum} and ${maximum}`);
    }
    for (const wrong of ["1", true, [], {}])
      expect(faultOf({ ...GOOD, [name]: wrong })).toBe(`${name} must be a number`);
  }
});

describe("addReport() checks texts:", () => {
  const open = ["type", "tracking_mode", "battery_status", "os", "brand", "model", "os_version"];
  const openToo = ["sdk_version", "app_version_name", "app_version_code"];

  test("open texts have 0 to 128 characters", () => {
    for (const name of [...open, ...openToo]) {
      expect(faultOf({ ...GOOD, [name]: "" })).toBeNull();
      expect(faultOf({ ...GOOD, [name]: "x".repeat(128) })).toBeNull();
      expect(faultOf({ ...GOOD, [name]: "x".repeat(129) })).toBe(`${name} must have 0 to 128 characters`);
      expect(faultOf({ ...GOOD, [name]: 7 })).toBe(`${name} must be a string`);
    }
  });

  test("ids have 1 to 128 characters, counted as code points", () => {
    for (const name of ["device_id", "user_id"]) {
      expect(faultOf({ ...GOOD, [name]: "" })).toBe(`${name} must have 1 to 128 characters`);
      expect(faultOf({ ...GOOD, [name]: "\u{1F68C}".repeat(128) })).toBeNull();
      expect(faultOf({ ...GOOD, [name]: "\u{1F68C}".repeat(129) })).toBe(
        `${name} must have 1 to 128 characters`,
      );
    }
  });

  test("no control characters and no lone surrogates", () => {
    for (const name of ["device_id", "user_id", "brand"]) {
      for (const control of ["\0", "\n", "\u001f", "\u007f", "\u0085", "\u009f"]) {
        expect(faultOf({ ...GOOD, [name]: `a${control}` })).toBe(
          `${name} must not contain control characters`,
        );
      }
      expect(faultOf({ ...GOOD, [name]: "a\ud800" })).toContain(`${name} must be valid Unicode`);
      expect(faultOf({ ...GOOD, [name]: "ünï \u00a0 ✓" })).toBeNull();
    }
  });

  test("tz_offset is a signed whole number", () => {
    for (const good of ["0", "+60", "-18000", "123456"])
      expect(faultOf({ ...GOOD, tz_offset: good })).toBeNull();
    for (const bad of ["", "+", "1.5", "1234567", "UTC", "0\n"]) {
      expect(faultOf({ ...GOOD, tz_offset: bad })).toContain("tz_offset must match");
    }
  });
});

test("addReport() takes true and false alone as booleans", () => {
  for (const name of ["network_status", "location_permission", "is_mock"]) {
    for (const good of [true, false]) expect(faultOf({ ...GOOD, [name]: good })).toBeNull();
    for (const bad of ["true", 1, 0, {}])
      expect(faultOf({ ...GOOD, [name]: bad })).toBe(`${name} must be true or false`);
  }
});

test("addReport() bounds the time of the fix", () => {
  expect(faultOf({ ...GOOD, timestamp: TIMES.oldestMs })).toBeNull();
  expect(faultOf({ ...GOOD, timestamp: TIMES.newestMs })).toBeNull();
  expect(faultOf({ ...GOOD, timestamp: TIMES.oldestMs - 1 })).toContain(
    "timestamp must not be before 2025-11-21",
  );
  expect(faultOf({ ...GOOD, timestamp: TIMES.newestMs + 1 })).toContain("10 minutes in the future");
  expect(faultOf({ ...GOOD, timestamp: Math.floor(NOW_MS / 1000) })).toContain("looks like seconds");
  for (const bad of [1.5, "1", NaN, Infinity, 2 ** 60, true]) {
    expect(faultOf({ ...GOOD, timestamp: bad })).toContain("timestamp must be an integer");
  }
});

test("addReport() refuses what is no object, and is not fooled by prototype members", () => {
  for (const bad of [null, 1, "x", [], [GOOD], undefined])
    expect(faultOf(bad)).toBe("a report must be a JSON object");
  expect(faultOf(JSON.parse('{"__proto__":{"device_id":"d"},"timestamp":1}'))).toBe("device_id is required");
  expect(faultOf({ ...GOOD, constructor: 1, toString: 2, unknown: {} })).toBeNull();
});

test("addReport() refuses ids that no path can name, and takes those that only look like them", () => {
  for (const name of ["device_id", "user_id"]) {
    for (const id of [".", ".."]) {
      expect(faultOf({ ...GOOD, [name]: id })).toBe(
        `${name} must not be . or .., which a path can't contain`,
      );
    }
    for (const id of ["...", ".a", "a..", "%2E%2E", "\u2024", "/", "../.."]) {
      expect(faultOf({ ...GOOD, [name]: id })).toBeNull();
    }
  }
  expect(faultOf({ ...GOOD, type: ".", brand: ".." })).toBeNull();
});

test("addReport() finds the same faults whatever texts came before in the batch", () => {
  const text = fc.constantFrom(
    "",
    ".",
    "..",
    "+0",
    "+0123456",
    "x\u0001",
    "\ud800",
    "é".repeat(128),
    "é".repeat(129),
    true,
    5,
  );
  const names = REPORT_FIELDS.filter(({ type, column }) => type !== "number" && column !== "timestamp").map(
    ({ name }) => name,
  );
  const texts = fc.record(Object.fromEntries(names.map((name) => [name, text])), { requiredKeys: [] });
  fc.assert(
    fc.property(fc.array(texts, { minLength: 2, maxLength: 6 }), (several) => {
      const batch = createReportBatchBuilder(several.length);
      for (const some of several) {
        const report = { ...GOOD, ...some };
        expect(addReport(report, TIMES, batch)).toBe(faultOf(report));
      }
      const { texts, profiles, profile, states, state, count } = batch.build();
      const alone = several
        .map((some) => ({ ...GOOD, ...some }))
        .filter((report) => faultOf(report) === null)
        .map((report) => {
          const own = createReportBatchBuilder(1);
          addReport(report, TIMES, own);
          const built = own.build();
          return [[...built.profiles], [...built.states]].map((tuple) =>
            tuple.map((index) => built.texts[index]),
          );
        });
      const together = Array.from({ length: count }, (_, row) => [
        [
          ...profiles.subarray(
            profile[row]! * PROFILE_FIELDS.length,
            (profile[row]! + 1) * PROFILE_FIELDS.length,
          ),
        ],
        [...states.subarray(state[row]! * STATE_FIELDS.length, (state[row]! + 1) * STATE_FIELDS.length)],
      ]).map((tuples) => tuples.map((tuple) => tuple.map((index) => texts[index])));
      expect(together).toEqual(alone);
    }),
  );
});
