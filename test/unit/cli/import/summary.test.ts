import { expect, test } from "bun:test";
import { importSummary, retentionStopText, surveySummary } from "../../../../src/cli/import/summary.ts";
import type { FileGroup } from "../../../../src/import/look.ts";
import type { TallySoFar } from "../../../../src/import/tally/tally.ts";

const RECORDS: FileGroup = {
  label: "Records.json",
  formatName: "google-records",
  title: "Google records",
  isOwn: false,
  reason: "",
  files: 1,
};
const RIDES: FileGroup = { ...RECORDS, label: "rides/1.gpx", formatName: "gpx", title: "GPX", files: 1204 };

const TALLY: TallySoFar = {
  points: 41_510_735,
  created: 41_498_731,
  sameTime: 7,
  alreadyThere: 12_004,
  resent: 0,
  skips: [
    {
      reason: "no_position",
      message: null,
      count: 18_903,
      places: [
        "Records.json @ byte 1,203,442,110",
        "Records.json @ byte 1,203,442,910",
        "old @ home.json @ byte 7",
      ],
    },
    { reason: "rejected", message: "speed must be a number", count: 2, places: ["Records.json @ byte 7"] },
  ],
  remarks: [["spread", 7]],
  unreadable: [],
  leftOut: [["speed", 3]],
  faults: 0,
  extent: {
    firstMs: Date.UTC(2013, 2, 2, 5),
    lastMs: Date.UTC(2024, 5, 17, 5),
    south: 52.5,
    west: -1.25,
    north: 53,
    east: 13.4,
    devices: ["a", "b", "c", "d", "e", "f"],
    hasMoreDevices: false,
  },
};
const NOTHING: TallySoFar = {
  points: 0,
  created: 0,
  sameTime: 0,
  alreadyThere: 0,
  resent: 0,
  skips: [],
  remarks: [],
  unreadable: [],
  leftOut: [],
  faults: 1,
  extent: null,
};

test("importSummary() has a line for each group of files, and below it what did not come in", () => {
  expect(importSummary([RECORDS, RIDES], [TALLY, NOTHING])).toBe(
    [
      "Records.json   Google records   41,529,640 read   41,498,731 new   12,004 already there   18,905 skipped",
      "               skipped: 18,903 without position · 2 speed must be a number",
      "                 18,903 without position: Records.json @ byte 1,203,442,110, byte 1,203,442,910, old @ home.json @ byte 7",
      "                 2 speed must be a number: Records.json @ byte 7",
      "               7 at the time of an existing record",
      "               7 spread over their minute, since the file has no seconds",
      "               3 without speed, which was out of bounds",
      "               2013-03-02 … 2024-06-17      6 devices",
      "1,204 files    GPX                       0 read            0 new        0 already there        0 skipped",
      "               1 file could not be read completely",
      "",
    ].join("\n"),
  );
});

test("surveySummary() tells the box and the devices, and nothing of what is new", () => {
  const text = surveySummary([RECORDS], [TALLY]);
  expect(text).toContain(
    "Records.json   Google records   41,529,640 read   41,510,735 usable   18,905 skipped\n",
  );
  expect(text).toEndWith(
    "Records.json: 2013-03-02T05:00:00.000Z … 2024-06-17T05:00:00.000Z, latitude 52.5 … 53, longitude -1.25 … 13.4\n" +
      "               6 devices: a, b, c, d, e, …\n",
  );
});

test("retentionStopText() says how many lie before the edge, and what helps", () => {
  const counts = { points: 41_530_220, pointsBeforeEdge: 37_112_004, edgeMs: Date.UTC(2025, 10, 21) };
  expect(retentionStopText(counts, { text: "365d" })).toStartWith(
    "37,112,004 of 41,530,220 points are from before 2025-11-21, older than the retention of 365 days. " +
      "Run again with --skip-old to skip them, or raise the retention first. (settings set retention forever, or",
  );
  expect(retentionStopText(counts, { text: "10y" })).toContain("older than the retention of 10 years.");
});
