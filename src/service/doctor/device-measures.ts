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
import type { IngestedReports, LeftOutField, RefusedReport, SenderClient } from "./ingested-reports.ts";
import { Outcomes } from "./outcomes.ts";
import { ReportGaps } from "./report-gaps.ts";
import { type Fix, SpeedRatios } from "./speed-ratios.ts";

/** One examination of devices. */
export interface Visit {
  readonly nowMs: number;
  /** The time of a device's newest stored report, or -Infinity. The doctor may have skipped its message. */
  newestFixMs(appId: string, deviceId: string): number;
  onFinding(finding: Finding): void;
}

/** Everything that is measured of devices, by slot, and its diagnoses. */
export class DeviceMeasures {
  readonly #newestFixMs = new NumberColumn();
  readonly #lags = new ClockLags();
  readonly #ratios = new SpeedRatios();
  readonly #gaps = new ReportGaps();
  readonly #outcomes = new Outcomes();

  /** Notes a message with reports of the device; once, before its reports. */
  noteMessage(slot: number, arrivedMs: number): void {
    this.#gaps.note(slot, arrivedMs);
  }

  noteFix(slot: number, arrivedMs: number, fix: Fix): void {
    if (fix.timestampMs <= this.#newestFixMs.get(slot)) return; // A repeated or late report.
    this.#newestFixMs.set(slot, fix.timestampMs);
    this.#lags.note(slot, arrivedMs, fix.timestampMs);
    this.#ratios.note(slot, fix);
  }

  noteAccepted(slot: number, points: number, duplicates: number): void {
    this.#outcomes.noteAccepted(slot, points, duplicates);
  }

  /** Counts accepted points that lack a value or their own time. */
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

  /** Reports everything that is wrong with the device now. */
  examine(slot: number, owner: SlotOwner<SenderClient>, visit: Visit): void {
    const { appId, deviceId, group: client } = owner;
    const { nowMs, onFinding } = visit;
    // A device's clock that is ahead may give the newest report a future time.
    const lastMs = Math.max(this.#gaps.lastMs(slot), Math.min(nowMs, visit.newestFixMs(appId, deviceId)));
    const tell = (kind: FindingKind, atMs: number, diagnosis: Diagnosis | null) => {
      if (diagnosis !== null) onFinding({ appId, deviceId, client, kind, atMs, ...diagnosis });
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

type LackingReports = Pick<IngestedReports, "leftOut" | "timedByArrival">;

/** For each reason the field that most reports lack, and how many reports lack it at least. */
function mostLeftOut(leftOut: readonly LeftOutField[]): readonly LeftOutField[] {
  return leftOut.filter(
    (one) => leftOut.find(({ fault, count }) => fault === one.fault && count >= one.count) === one,
  );
}
