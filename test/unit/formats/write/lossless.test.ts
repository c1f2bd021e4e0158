import { describe, expect, test } from "bun:test";
import { recordColumns } from "../../../../src/model/record-columns.ts";
import { parseZone } from "../../../../src/model/time/zone.ts";
import * as fc from "../../../support/fast-check.ts";
import { BASE_MS } from "../../../support/reports/arbitrary-reports.ts";
import { readReports } from "../../import/support/read-reports.ts";
import { arbitraryAnyReport, columnsOf, rowsOf, writeFile, writeText } from "./arbitrary-records.ts";

const ANY_TIME = { oldestMs: 0, newestMs: Number.MAX_SAFE_INTEGER };

/** The records that `import` makes of a file. */
function readBack(format: "csv" | "ndjson", bytes: Uint8Array) {
  const { batch, rejected, ignored, fault } = readReports(format, [bytes], { times: ANY_TIME });
  expect([fault, rejected, ignored]).toEqual([null, [], []]);
  return batch === null ? [] : rowsOf(recordColumns(batch));
}

const zone = fc.constantFrom(null, parseZone("Europe/Berlin"));
const reports = fc.array(arbitraryAnyReport, { maxLength: 12 });

describe("every record comes back the same, whatever its texts and numbers", () => {
  test("from NDJSON", () => {
    fc.assert(
      fc.property(reports, zone, (records, zone) => {
        const bytes = writeFile("ndjson", [records], { zone });
        expect(readBack("ndjson", bytes)).toEqual(rowsOf(columnsOf(records)));
      }),
      { numRuns: 300 },
    );
  });

  test("from CSV, of which nothing is said to be ignored", () => {
    fc.assert(
      fc.property(reports, zone, (records, zone) => {
        const bytes = writeFile("csv", [records], { zone });
        expect(readBack("csv", bytes)).toEqual(rowsOf(columnsOf(records)));
      }),
      { numRuns: 300 },
    );
  });
});

const REPORT = {
  device_id: "bus-1",
  timestamp: BASE_MS + 1,
  latitude: 52.5,
  longitude: -13.25,
  speed: 8.3,
  user_id: "=anna",
  is_mock: false,
  brand: 'a "b", c',
};

test("NDJSON is a report a line, by the names of the contract", () => {
  expect(writeText("ndjson", [[REPORT], [REPORT]], { zone: parseZone("Asia/Tokyo") })).toBe(
    `${JSON.stringify({
      device_id: "bus-1",
      timestamp: BASE_MS + 1,
      latitude: 52.5,
      longitude: -13.25,
      speed: 8.3,
      user_id: "=anna",
      brand: 'a "b", c',
      is_mock: false,
      local_time: "2026-01-15T09:00:00.001+09:00",
    })}\n`.repeat(2),
  );
});

test("CSV has one header, the time in both forms, and no formulas", () => {
  const [header, row, rest] = writeText("csv", [[REPORT]], { zone: parseZone("Asia/Tokyo") }).split("\r\n");
  expect(header).toBe(
    "device_id,timestamp,time,latitude,longitude,horizontal_accuracy,vertical_accuracy,altitude,speed,bearing," +
      "battery_level,user_id,tz_offset,brand,model,os,os_version,sdk_version,app_version_name,app_version_code," +
      "type,battery_status,network_status,location_permission,is_mock,tracking_mode,local_time",
  );
  expect(row).toBe(
    `bus-1,${BASE_MS + 1},2026-01-15T00:00:00.001Z,52.5,-13.25,,,,8.3,,,'=anna,,"a ""b"", c",,,,,,,,,,,false,,` +
      "2026-01-15T09:00:00.001+09:00",
  );
  expect(rest).toBe("");
});
