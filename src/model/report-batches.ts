import { createReportBatchBuilder, type ReportBatch, type ReportBatchBuilder } from "./report-batch.ts";

/**
 * Each batch is an entry of the log and taken into memory in one piece: some 15 ms where every text of a thousand
 * reports is new and long.
 */
export const ENTRY_REPORTS_MAX = 1000;

/** The reports of a request in batches that are entries of the log. */
export class ReportBatches {
  readonly #batches: ReportBatch[] = [];
  #builder: ReportBatchBuilder | null = null;

  /** Where the next report goes; `following` more are known to come after it. */
  builder(following: number): ReportBatchBuilder {
    if (this.#builder?.count === ENTRY_REPORTS_MAX) this.#endBatch(this.#builder);
    this.#builder ??= createReportBatchBuilder(Math.min(ENTRY_REPORTS_MAX, 1 + following));
    return this.#builder;
  }

  /** No more reports follow. */
  end(): void {
    const isEmpty = this.#batches.length === 0;
    if (this.#builder !== null || isEmpty) this.#endBatch(this.#builder ?? createReportBatchBuilder(0));
  }

  /** Those that are full, and the last once it has ended; at least one, which is empty where no report is good. */
  get batches(): readonly ReportBatch[] {
    return this.#batches;
  }

  #endBatch(builder: ReportBatchBuilder): void {
    this.#batches.push(builder.build());
    this.#builder = null;
  }
}
