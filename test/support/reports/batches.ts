import { assert } from "../../../src/lib/assert.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { REPORT_FIELDS } from "../../../src/model/location-fields.ts";
import { addReport } from "../../../src/model/report.ts";
import {
  createReportBatchBuilder,
  type ReportBatch,
  type RowBatch,
} from "../../../src/model/report-batch.ts";
import type { LogEntry } from "../../../src/wal/entry/entry.ts";
import { laidOver, type ReferenceRecord, type ReferenceReport } from "../../reference/records.ts";

export const APP = "app" as AppId;

/** A client's report. */
export type Report = Readonly<Record<string, unknown>>;

const ANY_TIME = { oldestMs: Number.MIN_SAFE_INTEGER, newestMs: Number.MAX_SAFE_INTEGER };

/** Parses reports, which must all be valid, into a batch. */
export function batchOf(reports: readonly Report[]): ReportBatch {
  const builder = createReportBatchBuilder(reports.length);
  for (const report of reports) {
    const fault = addReport(report, ANY_TIME, builder);
    assert(fault === null, `a good report, but ${fault}`);
  }
  return builder.build();
}

/** Fields that belong to one fix. */
const FIX_MEMBERS = REPORT_FIELDS.filter(({ isOfFix }) => isOfFix === true).map(({ name }) => name);

/** Reports as memory passes them to the archive: each instant once, with all fixes of an instant. */
export function rowBatchOf(reports: readonly Report[]): RowBatch {
  const instants = Map.groupBy(reports, ({ device_id, timestamp }) => `${timestamp} ${device_id}`);
  const rows: Report[] = [];
  const fixes: Report[] = [];
  for (const ofInstant of instants.values()) {
    const [first, ...others] = ofInstant as unknown as readonly ReferenceReport[];
    const { user_id, ...laid } = others.reduce(laidOver, { ...first!, user_id: "" } as ReferenceRecord);
    const users = ofInstant.map((report) => report.user_id ?? null).filter((user) => user !== null);
    rows.push(users.length === 0 ? laid : { ...laid, user_id: users.at(-1) });
    if (others.length > 0) fixes.push(...ofInstant.map(fixOf));
  }
  return { ...batchOf(rows), fixes: fixes.length === 0 ? null : batchOf(fixes) };
}

/** The fields of a report that belong to the fix. */
export function fixOf(report: Report): Report {
  const kept = ["device_id", "timestamp", ...FIX_MEMBERS];
  return Object.fromEntries(Object.entries(report).filter(([name]) => kept.includes(name)));
}

/** The reports of an entry of the log, which has no others. */
export function batchIn(entry: LogEntry): ReportBatch {
  assert(entry.kind === "reports", "the entry has reports");
  return entry.batch;
}
