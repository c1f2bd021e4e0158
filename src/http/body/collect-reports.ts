import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Binding } from "../../model/binding.ts";
import { type AcceptedTimes, addReport, ERASED, type RejectedReport } from "../../model/report.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { ReportBatches } from "../../model/report-batches.ts";
import { ReportScanner } from "../../model/report-scanner.ts";
import { pickReports } from "../../wal/batch-parts.ts";

export interface ReportRules {
  readonly times: AcceptedTimes;
  readonly binding: Binding;
}

/** The valid reports of a body, and what is wrong with the others. */
export interface ReadReports {
  /** At least one, which is empty if no report is valid. */
  readonly batches: readonly ReportBatch[];
  readonly rejected: readonly RejectedReport[];
}

/** The reports without those in `rows` of all batches, which are rejected because their device or user is blocked. */
export function withoutRows(read: ReadReports, rows: readonly number[]): ReadReports {
  if (rows.length === 0) return read;
  const leaving = new Set(rows);
  const known = new Set(read.rejected.map(({ index }) => index));
  const rejected = [...read.rejected];
  const batches: ReportBatch[] = [];
  let row = 0;
  let index = 0;
  for (const batch of read.batches) {
    const remaining: number[] = [];
    for (let each = 0; each < batch.count; each++, row++, index++) {
      while (known.has(index)) index++;
      if (!leaving.has(row)) remaining.push(each);
      else rejected.push({ index, deviceId: batch.texts[batch.device[each]!]!, message: ERASED });
    }
    batches.push(pickReports(batch, remaining));
  }
  return { batches, rejected: rejected.sort((a, b) => a.index - b.index) };
}

/** Checks a body's reports one by one, in their order. */
export class CollectedReports implements ReadReports {
  readonly rejected: RejectedReport[] = [];
  readonly #rules: ReportRules;
  readonly #scanner: ReportScanner | null;
  readonly #batches = new ReportBatches();
  #count = 0;

  /** `body`, if given, allows `read`. */
  constructor(rules: ReportRules, body: Uint8Array | null = null) {
    this.#rules = rules;
    const { deviceId, userId } = rules.binding;
    // The scanner can't add the members that a bound key's reports may omit.
    const isBound = deviceId !== null || userId !== null;
    this.#scanner = body === null || isBound ? null : new ReportScanner(body, rules.times);
  }

  /** Reports so far, valid or not. */
  get count(): number {
    return this.#count;
  }

  get batches(): readonly ReportBatch[] {
    return this.#batches.batches;
  }

  /**
   * Reads the body's report that begins at `start` and ends before `end`. Returns the position after it, or -1 if it
   * must be parsed and passed to `add`. Only `addRead` appends what was read.
   */
  read(start: number, end: number, following: number): number {
    return this.#scanner === null ? -1 : this.#scanner.read(start, end, this.#batches.builder(following));
  }

  addRead(): void {
    this.#scanner!.addRow(this.#batches.builder(0));
    this.#count++;
  }

  /** Checks and appends a value that may be a report; `following` more are expected. */
  add(report: unknown, following: number): void {
    const { times, binding } = this.#rules;
    const bound = bind(report, binding);
    const fault = bound.ok ? addReport(bound.value, times, this.#batches.builder(following)) : bound.error;
    if (fault !== null) {
      const deviceId = (report as { device_id?: unknown } | null)?.device_id;
      this.reject(fault, isShowable(deviceId) ? deviceId : null);
      return;
    }
    this.#count++;
  }

  reject(message: string, deviceId: string | null = null): void {
    const index = this.#count++;
    this.rejected.push({ index, message, ...(deviceId === null ? {} : { deviceId }) });
  }

  end(): this {
    this.#batches.end();
    return this;
  }
}

/** Adds the key's device and user to a report; fails if the report names others. */
function bind(report: unknown, { deviceId, userId }: Binding): Result<unknown, string> {
  if ((deviceId === null && userId === null) || !isObject(report)) return ok(report);
  const { device_id: device = null, user_id: user = null } = report;
  if (deviceId !== null && isOther(device, deviceId)) {
    return fail(`device_id must be "${deviceId}" or absent: the key is bound to this device`);
  }
  if (userId !== null && isOther(user, userId)) {
    return fail(`user_id must be "${userId}" or absent: the key is bound to this user`);
  }
  return ok({ ...report, device_id: device ?? deviceId, user_id: user ?? userId });
}

/** Values other than texts are rejected later, as such. */
function isOther(claimed: unknown, bound: string): boolean {
  return typeof claimed === "string" && claimed !== bound;
}

const DEVICE_ID_SHOWN_MAX = 256;

function isShowable(deviceId: unknown): deviceId is string {
  return typeof deviceId === "string" && deviceId.length <= DEVICE_ID_SHOWN_MAX;
}
