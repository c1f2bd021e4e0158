import { BATCH_REPORTS_MAX, type ReportBatch } from "../../../src/model/report-batch.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { compactBatch } from "../fleets/compact-batch.ts";
import type { YearFleet } from "../fleets/year-fleet.ts";

/*
 * The days of many devices: one of them, the subject of an erasure, reports every minute of every day; each other one
 * reports some minutes of one day of the week.
 */

/** The first device of the fleet. Its user has the second one, too. */
const SUBJECT = 0;
const OF_ITS_USER = 1;

const DAYS_A_WEEK = 7;
const MS_PER_MINUTE = 60_000;

export interface CrowdedYearOptions {
  readonly fleet: YearFleet;
  /** Minutes of each day that the subject reports. */
  readonly subjectMinutes: number;
  /** Minutes that each other device reports on its day of the week. */
  readonly minutes: number;
}

export class CrowdedYear {
  readonly #options: CrowdedYearOptions;
  readonly #ofWeekday: readonly (readonly number[])[];

  constructor(options: CrowdedYearOptions) {
    this.#options = options;
    const { deviceIds } = options.fleet;
    this.#ofWeekday = Array.from({ length: DAYS_A_WEEK }, (_, weekday) =>
      [...deviceIds.keys()].filter((device) => device !== SUBJECT && device % DAYS_A_WEEK === weekday),
    );
  }

  get subjectId(): string {
    return this.#options.fleet.deviceIds[SUBJECT]!;
  }

  /** Devices with records on the day of which neither the subject nor its user has any. */
  othersOn(dayStartMs: number): readonly number[] {
    return this.#reportingOn(dayStartMs).filter((device) => device !== OF_ITS_USER);
  }

  *batchesOfDay(dayStartMs: number): Generator<ReportBatch> {
    const { fleet, subjectMinutes, minutes } = this.#options;
    yield compactBatch(fleet.batch(dayStartMs, subjectMinutes, [SUBJECT]));
    const devices = this.#reportingOn(dayStartMs);
    const together = Math.floor(BATCH_REPORTS_MAX / minutes);
    const batches = Math.ceil(devices.length / together);
    const minutesApart = Math.floor((MS_PER_DAY / MS_PER_MINUTE - minutes) / batches);
    for (let batch = 0; batch < batches; batch++) {
      const chosen = devices.slice(batch * together, (batch + 1) * together);
      yield compactBatch(fleet.batch(dayStartMs + batch * minutesApart * MS_PER_MINUTE, minutes, chosen));
    }
  }

  #reportingOn(dayStartMs: number): readonly number[] {
    return this.#ofWeekday[Math.floor(dayStartMs / MS_PER_DAY) % DAYS_A_WEEK]!;
  }
}
