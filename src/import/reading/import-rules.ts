import type { DeviceId, UserId } from "../../model/ids.ts";
import type { AcceptedTimes } from "../../model/report.ts";

/** Options for everything that is imported. */
export interface ImportRules {
  /** The device of all reports; null keeps the devices of the files. */
  readonly deviceId: DeviceId | null;
  /** The user of all points, and of reports in our own formats without one. */
  readonly userId: UserId | null;
  /** The wanted times after the shift, from start to before end; either may be infinite. */
  readonly range: { readonly startMs: number; readonly endMs: number };
}

/** Rules that change during an import. */
export interface Moment {
  /** Times that can be stored. */
  readonly times: AcceptedTimes;
  /** Added to every time of the file. */
  readonly shiftMs: number;
}

export function isWanted({ range }: ImportRules, timestampMs: number): boolean {
  return timestampMs >= range.startMs && timestampMs < range.endMs;
}
