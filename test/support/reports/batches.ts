import { assert } from "../../../src/lib/assert.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { addReport } from "../../../src/model/report.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../src/model/report-batch.ts";

export const APP = "app" as AppId;

/** A report as a client writes it. */
export type Report = Readonly<Record<string, unknown>>;

const ANY_TIME = { oldestMs: Number.MIN_SAFE_INTEGER, newestMs: Number.MAX_SAFE_INTEGER };

/** A batch of reports that must all be good. */
export function batchOf(reports: readonly Report[]): ReportBatch {
  const builder = createReportBatchBuilder(reports.length);
  for (const report of reports) {
    const fault = addReport(report, ANY_TIME, builder);
    assert(fault === null, `a good report, but ${fault}`);
  }
  return builder.build();
}
