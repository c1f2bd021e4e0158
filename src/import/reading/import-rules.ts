import type { DeviceId, UserId } from "../../model/ids.ts";
import type { AcceptedTimes } from "../../model/report.ts";

/** What the operator says of everything that is imported, whatever file it is in. */
export interface ImportRules {
  /** The device of all; null leaves them as they are called. */
  readonly deviceId: DeviceId | null;
  /** The user of all points, and of reports of our own formats that name none. */
  readonly userId: UserId | null;
  /** Times that are wanted, after the shift: from the start to before the end, of which either may be infinite. */
  readonly range: { readonly startMs: number; readonly endMs: number };
}

/** What is judged by besides, which changes as an import goes on. */
export interface Moment {
  /** Which times can be kept. */
  readonly times: AcceptedTimes;
  /** Added to every time of the file. */
  readonly shiftMs: number;
}

export function isWanted({ range }: ImportRules, timestampMs: number): boolean {
  return timestampMs >= range.startMs && timestampMs < range.endMs;
}
