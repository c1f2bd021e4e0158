import { createReportBatchBuilder, type ReportBatch, type ReportBatchBuilder } from "./report-batch.ts";

/**
 * Memory applies each batch, one entry of the log, in one turn: 15 ms if all texts of 1,000 reports are new and long.
 */
export const ENTRY_REPORTS_MAX = 1000;

/** Divides the reports of a request into batches, each an entry of the log. */
export class ReportBatches {
  readonly #batches: ReportBatch[] = [];
  #builder: ReportBatchBuilder | null = null;

  /** The builder for the next report; `following` more are expected after it. */
  builder(following: number): ReportBatchBuilder {
    if (this.#builder?.count === ENTRY_REPORTS_MAX) this.#endBatch(this.#builder);
    this.#builder ??= createReportBatchBuilder(Math.min(ENTRY_REPORTS_MAX, 1 + following));
    return this.#builder;
  }

  end(): void {
    const isEmpty = this.#batches.length === 0;
    if (this.#builder !== null || isEmpty) this.#endBatch(this.#builder ?? createReportBatchBuilder(0));
  }

  /** The full batches, and after `end` the last one too; at least one, which is empty if no report is valid. */
  get batches(): readonly ReportBatch[] {
    return this.#batches;
  }

  #endBatch(builder: ReportBatchBuilder): void {
    this.#batches.push(builder.build());
    this.#builder = null;
  }
}
