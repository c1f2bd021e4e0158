import { addReport } from "../../../src/model/report.ts";
import { createReportBatchBuilder, type ReportBatch } from "../../../src/model/report-batch.ts";

const ANY_TIME = { oldestMs: Number.MIN_SAFE_INTEGER, newestMs: Number.MAX_SAFE_INTEGER };

/** Batches of valid reports, like those of requests or an import. */
export function* batchesOf(reports: Iterable<object>, batchSize: number): Generator<ReportBatch> {
  let builder = createReportBatchBuilder(batchSize);
  for (const report of reports) {
    const fault = addReport(report, ANY_TIME, builder);
    if (fault !== null) throw new Error(`a report of the bench is refused: ${fault}`);
    if (builder.count < batchSize) continue;
    yield builder.build();
    builder = createReportBatchBuilder(batchSize);
  }
  if (builder.count > 0) yield builder.build();
}
