import { expect, test } from "bun:test";
import type { RunReport } from "../reports/reports.ts";
import { createRunModel, possibleValues } from "./model.ts";

/** What the record may be once the entries of these sequences may be missing. */
function possibleOnceLost(reports: readonly Partial<RunReport>[], lost: readonly number[]) {
  const place = { device_id: "a", timestamp: 1, latitude: 2, longitude: 3 };
  const model = createRunModel();
  for (const [index, report] of reports.entries())
    model.take({ appId: "app", reports: [{ ...place, ...report }], sequence: index + 1 });
  model.loosen((_, __, { batch }) => lost.includes(batch.sequence!));
  const [record] = model.histories("app", []);
  const values = possibleValues(record!, () => false).map((value) =>
    [value?.altitude, value?.speed, value?.battery_level].join(" "),
  );
  return [...new Set(values)].sort();
}

const REPORTS = [
  { altitude: 1, speed: 10 },
  { altitude: 2, battery_level: 20 },
  { altitude: 3, speed: 30 },
];

test("possibleValues() knows a record of which nothing may be missing", () => {
  expect(possibleOnceLost(REPORTS, [])).toEqual(["3 30 20"]);
});

test("possibleValues() lets what is lost show in the fields that nothing laid over it once more carries", () => {
  // Missing; there, with the second report laid over it once more; there.
  expect(possibleOnceLost(REPORTS, [3])).toEqual(["2 10 20", "2 30 20", "3 30 20"]);
  expect(possibleOnceLost(REPORTS, [2])).toEqual(["3 30 ", "3 30 20"]);
});

test("possibleValues() lets nothing older show over what is surely there", () => {
  expect(possibleOnceLost(REPORTS, [1])).toEqual(["3 30 20"]);
  expect(possibleOnceLost(REPORTS, [1, 2])).toEqual(["3 30 ", "3 30 20"]);
});
