import type { FenceSchedule } from "./fence.ts";

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/**
 * When a geofence or an alert is in force: always, in the same hours of some weekdays, or as another program has set
 * it.
 */
export type DraftSchedule =
  | { readonly kind: "always" }
  | {
      readonly kind: "weekly";
      readonly timezone: string;
      readonly days: readonly string[];
      readonly from: string;
      readonly to: string;
    }
  | { readonly kind: "other"; readonly schedule: FenceSchedule };

export function draftSchedule(schedule: FenceSchedule | undefined): DraftSchedule {
  if (schedule === undefined) return { kind: "always" };
  const { timezone, weekly, except = [] } = schedule;
  const [hours, ...others] = weekly;
  if (hours === undefined || others.length > 0 || except.length > 0) return { kind: "other", schedule };
  return { kind: "weekly", timezone, ...hours };
}

export function scheduleOf(schedule: DraftSchedule): FenceSchedule | null {
  switch (schedule.kind) {
    case "always":
      return null;
    case "weekly": {
      const { timezone, days, from, to } = schedule;
      return { timezone, weekly: [{ days, from, to }] };
    }
    case "other":
      return schedule.schedule;
  }
}
