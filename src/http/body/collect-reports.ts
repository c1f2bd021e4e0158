import { isObject } from "../../lib/is-object.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { Binding } from "../../model/binding.ts";
import { type AcceptedTimes, addReport, type RejectedReport } from "../../model/report.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { ReportBatches } from "../../model/report-batches.ts";
import { ReportScanner } from "../../model/report-scanner.ts";

/** What the reports of a body are held to. */
export interface ReportRules {
  readonly times: AcceptedTimes;
  /** Whom their key writes as. */
  readonly binding: Binding;
}

/** The good reports of a body, and what is wrong with the others. */
export interface ReadReports {
  /** At least one, which is empty where no report is good. */
  readonly batches: readonly ReportBatch[];
  readonly rejected: readonly RejectedReport[];
}

/** Checks a body's reports one by one, in their order. */
export class CollectedReports implements ReadReports {
  readonly rejected: RejectedReport[] = [];
  readonly #rules: ReportRules;
  readonly #scanner: ReportScanner | null;
  readonly #taken = new ReportBatches();
  #count = 0;

  /** Reports can be read from the body, where one is given. */
  constructor(rules: ReportRules, body: Uint8Array | null = null) {
    this.#rules = rules;
    const { deviceId, userId } = rules.binding;
    // What the reports of a bound key leave out is put in before anything is checked.
    const isBound = deviceId !== null || userId !== null;
    this.#scanner = body === null || isBound ? null : new ReportScanner(body, rules.times);
  }

  /** Reports so far, good or not. */
  get count(): number {
    return this.#count;
  }

  get batches(): readonly ReportBatch[] {
    return this.#taken.batches;
  }

  /**
   * Reads the body's report that begins here, and ends before `end`: where it ends, or -1 where it has to be parsed and
   * added. What is read is taken in by `addRead` alone.
   */
  read(start: number, end: number, following: number): number {
    return this.#scanner === null ? -1 : this.#scanner.read(start, end, this.#taken.builder(following));
  }

  /** Takes in the report that was read last. */
  addRead(): void {
    this.#scanner!.addRow(this.#taken.builder(0));
    this.#count++;
  }

  /** Takes in what may be a report; `following` more are known to come. */
  add(report: unknown, following: number): void {
    const { times, binding } = this.#rules;
    const bound = bind(report, binding);
    const fault = bound.ok ? addReport(bound.value, times, this.#taken.builder(following)) : bound.error;
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

  /** No more reports follow. */
  end(): this {
    this.#taken.end();
    return this;
  }
}

/** The report as the key's holder writes it; the error is what is wrong with one that speaks for somebody else. */
function bind(report: unknown, { deviceId, userId }: Binding): Result<unknown, string> {
  if ((deviceId === null && userId === null) || !isObject(report)) return ok(report);
  const { device_id: device = null, user_id: user = null } = report;
  if (deviceId !== null && isOther(device, deviceId)) {
    return fail(`device_id must be "${deviceId}" or left out: the key is bound to this device`);
  }
  if (userId !== null && isOther(user, userId)) {
    return fail(`user_id must be "${userId}" or left out: the key is bound to this user`);
  }
  return ok({ ...report, device_id: device ?? deviceId, user_id: user ?? userId });
}

/** What is no text at all is refused as that. */
function isOther(claimed: unknown, bound: string): boolean {
  return typeof claimed === "string" && claimed !== bound;
}

const DEVICE_ID_SHOWN_MAX = 256;

function isShowable(deviceId: unknown): deviceId is string {
  return typeof deviceId === "string" && deviceId.length <= DEVICE_ID_SHOWN_MAX;
}
