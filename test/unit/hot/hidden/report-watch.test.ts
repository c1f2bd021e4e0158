import { expect, test } from "bun:test";
import { Aliases } from "../../../../src/hot/hidden/aliases.ts";
import { ReportWatches } from "../../../../src/hot/hidden/report-watch.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../../src/model/report-batch.ts";

const APP = "app" as AppId;
const [BUS, OLD] = ["bus" as DeviceId, "old" as DeviceId];

function reports(deviceId: string, times: readonly number[]): ReportBatch {
  const rows = createReportBatchBuilder(times.length);
  for (const timeMs of times) {
    rows.begin();
    rows.add(rows.text(deviceId), timeMs);
  }
  return rows.build();
}

test("a watch keeps the reports that show in its ranges, also those of devices that show as another", () => {
  const watches = new ReportWatches();
  const aliases = new Aliases();
  const watch = watches.begin(APP, [{ deviceId: BUS, startMs: 10, endMs: 20 }]);
  watches.note(APP, reports("bus", [9, 10, 19, 20]), 1, null);
  watches.note(APP, reports("old", [11]), 2, null);
  watches.note("other" as AppId, reports("bus", [12]), 3, null);
  aliases.add(OLD, { id: "c", number: 1, toId: BUS, userId: null });
  watches.note(APP, reports("old", [13, 21]), 4, aliases);
  watch.end();
  watches.note(APP, reports("bus", [14]), 5, aliases);
  expect(watch.reports.map(({ batch, row, shownId }) => [shownId, batch.timestampMs[row]])).toEqual([
    [BUS, 10],
    [BUS, 19],
    [BUS, 13],
  ]);
});
