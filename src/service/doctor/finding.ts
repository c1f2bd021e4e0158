import type { Speaker } from "./taken-reports.ts";

/**
 * What can be wrong with a device: its clock, its speeds' unit, that it repeats itself, is refused, sends values that
 * can't be used or no times, or is silent.
 */
export const FINDING_KINDS = ["clock", "units", "repeats", "refused", "values", "arrival", "silent"] as const;

export type FindingKind = (typeof FINDING_KINDS)[number];

/** Something that is wrong with a device, and what helps. */
export interface Finding {
  readonly appId: string;
  readonly deviceId: string;
  readonly client: Speaker;
  readonly kind: FindingKind;
  /** Since when it is known: of the last report that it rests on, or when that was overdue. */
  readonly atMs: number;
  /** A sentence each. */
  readonly what: string;
  readonly measured: string;
  readonly advice: string;
}

/** The part of it that tells what was found out. */
export type Diagnosis = Pick<Finding, "what" | "measured" | "advice">;
