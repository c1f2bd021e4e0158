import { isErased, type PendingErasure } from "../model/erasure.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../model/time/utc-day.ts";
import { pickReports } from "./batch-parts.ts";
import type { ReportsEntry, Sequenced } from "./entry/entry.ts";
import { type InstantsOfErasures, type UserInstants, userOf } from "./user-instants.ts";

/** Removes reports that erasures erase, and counts them. */
export class ReportEraser {
  /** How many reports each erasure erased, by its sequence. A report counts for the first that erases it. */
  readonly erased = new Map<number, number>();
  readonly #subjects: readonly Subject[];

  /** `instants` has those of every erasure of a user. */
  constructor(erasures: readonly PendingErasure[], instants: InstantsOfErasures) {
    this.#subjects = erasures.map((erasure) => {
      const ofUser = instants.get(erasure.sequence);
      return ofUser === undefined ? new DeviceSubject(erasure) : new UserSubject(erasure, ofUser);
    });
  }

  /** The entry's batch without erased reports. Texts that only these used are gone too. */
  remaining({ appId, sequence, batch }: Sequenced<ReportsEntry>): ReportBatch {
    const isBefore = ({ erasure }: Subject) => sequence < erasure.sequence && appId === erasure.appId;
    const subjects = this.#subjects.filter((subject) => isBefore(subject) && subject.mayBeIn(batch));
    if (subjects.length === 0) return batch;
    const rows: number[] = [];
    const anonymous = new Set<number>();
    for (let row = 0; row < batch.count; row++) {
      const subject = subjects.find((each) => each.erases(batch, row));
      if (subject !== undefined) this.#count(subject.erasure.sequence);
      else {
        rows.push(row);
        if (subjects.some((each) => each.namesIn(batch, row))) anonymous.add(row);
      }
    }
    return pickReports(batch, rows, anonymous);
  }

  #count(sequence: number): void {
    this.erased.set(sequence, (this.erased.get(sequence) ?? 0) + 1);
  }
}

/** What an erasure is about. */
interface Subject {
  readonly erasure: PendingErasure;
  /** False if the batch has neither erased reports nor the name. */
  mayBeIn(batch: ReportBatch): boolean;
  erases(batch: ReportBatch, row: number): boolean;
  /** Whether a report that is not erased names the user all the same. */
  namesIn(batch: ReportBatch, row: number): boolean;
}

class DeviceSubject implements Subject {
  readonly erasure: PendingErasure;
  readonly #ids: ReadonlySet<string>;

  constructor(erasure: PendingErasure) {
    this.erasure = erasure;
    this.#ids = new Set<string>(erasure.deviceIds);
  }

  mayBeIn({ texts }: ReportBatch): boolean {
    return texts.some((text) => this.#ids.has(text));
  }

  erases({ texts, device, timestampMs }: ReportBatch, row: number): boolean {
    return isErased(this.erasure, texts[device[row]!]!, null, timestampMs[row]!);
  }

  namesIn(): boolean {
    return false;
  }
}

class UserSubject implements Subject {
  readonly erasure: PendingErasure;
  readonly #instants: UserInstants;

  constructor(erasure: PendingErasure, instants: UserInstants) {
    this.erasure = erasure;
    this.#instants = instants;
  }

  mayBeIn(batch: ReportBatch): boolean {
    return this.#instants.mayHave(batch);
  }

  erases({ texts, device, timestampMs }: ReportBatch, row: number): boolean {
    const { userId } = this.erasure;
    const deviceId = texts[device[row]!]!;
    const isOfUser = this.#instants.has(deviceId, timestampMs[row]!);
    return isOfUser && isErased(this.erasure, deviceId, userId, timestampMs[row]!);
  }

  namesIn(batch: ReportBatch, row: number): boolean {
    const { userId } = this.erasure;
    const { texts, device, timestampMs } = batch;
    return (
      userOf(batch, row) === userId && isErased(this.erasure, texts[device[row]!]!, userId, timestampMs[row]!)
    );
  }
}

/** Whether an erasure's range has an instant of the day. */
export function meetsDay({ range }: Pick<PendingErasure, "range">, day: UtcDay): boolean {
  return utcDayStartMs(day) < range.endMs && utcDayStartMs(nextUtcDay(day)) > range.startMs;
}
