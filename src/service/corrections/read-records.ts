import { ok, type Result } from "../../lib/result.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import { countBefore } from "../../lib/tables/sorted-numbers.ts";
import { PIECE_RECORDS_MAX } from "../../model/correction-entry.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { PROFILE_FIELDS, STATE_FIELDS } from "../../model/location-fields.ts";
import { pageReports } from "../../model/page-reports.ts";
import {
  createReportBatchBuilder,
  NOT_CARRIED,
  type ReportBatch,
  type ReportBatchBuilder,
} from "../../model/report-batch.ts";
import type { Caller } from "../queries/find-device.ts";
import type { HistoryQueries } from "../queries/history/history.ts";

/** Records of a device as answers show them, in full. */
export interface FullRecords {
  /** Sorted. */
  readonly timestampMs: Float64Array;
  /** In pieces of `PIECE_RECORDS_MAX`. */
  readonly pieces: readonly ReportBatch[];
}

/** Reads the records of some sorted instants. Those that are gone are left out. */
export async function readRecords(
  history: Pick<HistoryQueries, "ofDevice">,
  appId: AppId,
  deviceId: DeviceId,
  times: Float64Array,
  caller: Caller,
): Promise<Result<FullRecords, ServiceError>> {
  const records = new RecordCollector();
  for (let at = 0; at < times.length; ) {
    const range = { startMs: times[at]!, endMs: times.at(-1)! + 1 };
    const page = { order: "asc", offset: 0, limit: PIECE_RECORDS_MAX, withDistance: false } as const;
    const answer = await history.ofDevice(
      appId,
      deviceId,
      { ...page, range, accuracyMetersMax: null },
      caller,
    );
    if (!answer.ok) return answer;
    let lastMs = range.startMs;
    for (const each of answer.value.pages) {
      if (each.count === 0) continue;
      lastMs = each.timestampMs[each.count - 1]!;
      records.add(pageReports(each), times);
    }
    if (!answer.value.hasMore) break;
    await nextTurn(); // Pages of memory come at once.
    at = countBefore(times, lastMs + 1);
  }
  return ok(records.end());
}

/** Collects rows of wanted instants. */
class RecordCollector {
  readonly #times: number[] = [];
  readonly #pieces: ReportBatch[] = [];
  #rows = createReportBatchBuilder(PIECE_RECORDS_MAX);

  add(batch: ReportBatch, wanted: Float64Array): void {
    for (let row = 0; row < batch.count; row++) {
      const timeMs = batch.timestampMs[row]!;
      if (wanted[countBefore(wanted, timeMs)] !== timeMs) continue;
      this.#times.push(timeMs);
      copyRow(this.#rows, batch, row);
      if (this.#rows.count === PIECE_RECORDS_MAX) this.#cut();
    }
  }

  end(): FullRecords {
    if (this.#rows.count > 0) this.#cut();
    return { timestampMs: Float64Array.from(this.#times), pieces: this.#pieces };
  }

  #cut(): void {
    this.#pieces.push(this.#rows.build());
    this.#rows = createReportBatchBuilder(PIECE_RECORDS_MAX);
  }
}

/** Copies a row of a batch. */
export function copyRow(to: ReportBatchBuilder, batch: ReportBatch, row: number): void {
  const { texts, numbers, profiles, profile, states, state } = batch;
  const copyText = (text: number) => (text === NOT_CARRIED ? NOT_CARRIED : to.text(texts[text]!));
  to.begin();
  for (let field = 0; field < numbers.length; field++) to.numbers[field] = numbers[field]![row]!;
  for (let member = 0; member < PROFILE_FIELDS.length; member++)
    to.profile[member] = copyText(profiles[profile[row]! * PROFILE_FIELDS.length + member]!);
  for (let member = 0; member < STATE_FIELDS.length; member++)
    to.state[member] = copyText(states[state[row]! * STATE_FIELDS.length + member]!);
  to.add(to.text(texts[batch.device[row]!]!), batch.timestampMs[row]!);
}
