import { ClockLags } from "./clock-lags.ts";
import { NumberColumn } from "./columns.ts";
import type { SlotOwner } from "./device-slots.ts";
import {
  type Diagnosis,
  diagnoseArrival,
  diagnoseClock,
  diagnoseRefused,
  diagnoseRepeats,
  diagnoseSilence,
  diagnoseUnits,
  diagnoseValues,
  type Finding,
  type FindingKind,
} from "./diagnoses.ts";
import { Outcomes } from "./outcomes.ts";
import { ReportGaps } from "./report-gaps.ts";
import { type Fix, SpeedRatios } from "./speed-ratios.ts";
import type { LeftOutField, RefusedReport, Speaker, TakenReports } from "./taken-reports.ts";

/** When devices are looked at, and what for. */
export interface Visit {
  readonly nowMs: number;
  /** Of the newest report that is stored of a device, or -Infinity: messages may have been passed over. */
  newestFixMs(appId: string, deviceId: string): number;
  found(finding: Finding): void;
}

/** All that is measured of devices, by slot, and what it says of them. */
export class DeviceMeasures {
  readonly #newestFixMs = new NumberColumn();
  readonly #lags = new ClockLags();
  readonly #ratios = new SpeedRatios();
  readonly #gaps = new ReportGaps();
  readonly #outcomes = new Outcomes();

  /** Of a message that the device is in; once, before its reports. */
  noteMessage(slot: number, arrivedMs: number): void {
    this.#gaps.note(slot, arrivedMs);
  }

  noteFix(slot: number, arrivedMs: number, fix: Fix): void {
    if (fix.timestampMs <= this.#newestFixMs.get(slot)) return; // Sent again, or late.
    this.#newestFixMs.set(slot, fix.timestampMs);
    this.#lags.note(slot, arrivedMs, fix.timestampMs);
    this.#ratios.note(slot, fix);
  }

  noteTaken(slot: number, points: number, duplicates: number): void {
    this.#outcomes.noteTaken(slot, points, duplicates);
  }

  /** Of the points that were taken, those that lack a value or their own time. */
  noteLacking(slot: number, { leftOut, timedByArrival }: LackingReports, share: number): void {
    for (const field of mostLeftOut(leftOut)) this.#outcomes.noteLeftOut(slot, field, field.count * share);
    if (timedByArrival > 0) this.#outcomes.noteTimedByArrival(slot, timedByArrival * share);
  }

  noteRefused(slot: number, refused: RefusedReport): void {
    this.#outcomes.noteRefused(slot, refused);
  }

  clear(slot: number): void {
    this.#newestFixMs.set(slot, Number.NEGATIVE_INFINITY);
    this.#lags.clear(slot);
    this.#ratios.clear(slot);
    this.#gaps.clear(slot);
    this.#outcomes.clear(slot);
  }

  /** Hands over what is wrong with the device now. */
  examine(slot: number, owner: SlotOwner<Speaker>, visit: Visit): void {
    const { appId, deviceId, group: client } = owner;
    const { nowMs, found } = visit;
    // A clock that is ahead may have stamped the newest report with a time that is to come.
    const lastMs = Math.max(this.#gaps.lastMs(slot), Math.min(nowMs, visit.newestFixMs(appId, deviceId)));
    const tell = (kind: FindingKind, atMs: number, diagnosis: Diagnosis | null) => {
      if (diagnosis !== null) found({ appId, deviceId, client, kind, atMs, ...diagnosis });
    };
    const outcomes = this.#outcomes;
    const points = outcomes.points(slot);
    const refused = outcomes.refused(slot);
    const habit = this.#gaps.habit(slot, lastMs);
    tell("clock", lastMs, diagnoseClock(this.#lags.medianSeconds(slot)));
    tell("units", lastMs, diagnoseUnits(this.#ratios.median(slot), client));
    tell("repeats", lastMs, diagnoseRepeats(points, outcomes.duplicates(slot), client));
    tell(
      "refused",
      lastMs,
      refused === 0
        ? null
        : diagnoseRefused(points, refused, outcomes.mainReason(slot), outcomes.mainFault(slot)),
    );
    tell("values", lastMs, diagnoseValues(points, outcomes.lacking(slot)));
    tell("arrival", lastMs, diagnoseArrival(points, outcomes.timedByArrival(slot), client));
    tell("silent", habit?.overdueMs ?? lastMs, diagnoseSilence(habit, lastMs, nowMs));
  }
}

type LackingReports = Pick<TakenReports, "leftOut" | "timedByArrival">;

/** For each reason the field that most reports lack for it: how many reports there are of that kind, at least. */
function mostLeftOut(leftOut: readonly LeftOutField[]): readonly LeftOutField[] {
  return leftOut.filter(
    (one) => leftOut.find(({ fault, count }) => fault === one.fault && count >= one.count) === one,
  );
}
