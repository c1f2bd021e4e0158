import type { AppBlocks } from "../../directory/erasure-ledger.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { pickReports } from "../../wal/batch-parts.ts";
import { userOf } from "../../wal/user-instants.ts";

/** A batch without the reports that are refused because their device or user was erased and is blocked. */
export interface AllowedReports {
  readonly batch: ReportBatch;
  /** The rows that are left, in order. */
  readonly rows: readonly number[];
  readonly blocked: readonly number[];
}

/** Null if no report is refused. */
export function withoutBlocked(batch: ReportBatch, blocks: AppBlocks): AllowedReports | null {
  const rows: number[] = [];
  const blocked: number[] = [];
  for (let row = 0; row < batch.count; row++)
    (blocks.isBlocked(batch.texts[batch.device[row]!]!, userOf(batch, row)) ? blocked : rows).push(row);
  return blocked.length === 0 ? null : { batch: pickReports(batch, rows), rows, blocked };
}
