import type { Selection } from "./selection.ts";

/* What the user wants to change of the selected positions, apart from their place. */

export type Change =
  | { readonly action: "hide" }
  | {
      readonly action: "shift_time";
      /** As typed: `1:30` is an hour and a half. */
      readonly text: string;
      readonly isLater: boolean;
    }
  | {
      readonly action: "assign";
      /** As typed, until the user has chosen a device. */
      readonly search: string;
      readonly toDeviceId: string | null;
    };

export const HIDE: Change = { action: "hide" };

/** What the dialog begins with when the user chooses the change. */
export const SHIFT: Change = { action: "shift_time", text: "1:00", isLater: true };
export const ASSIGN: Change = { action: "assign", search: "", toDeviceId: null };

/** The members of the correction. */
export type ChangeMembers =
  | { readonly action: "hide" }
  | { readonly action: "shift_time"; readonly by_ms: number }
  | { readonly action: "assign"; readonly to_device_id: string };

/** Null as long as the user has not said enough. */
export function changeMembers(change: Change): ChangeMembers | null {
  switch (change.action) {
    case "hide":
      return { action: "hide" };
    case "shift_time": {
      const byMs = parseDuration(change.text);
      return byMs === null ? null : { action: "shift_time", by_ms: change.isLater ? byMs : -byMs };
    }
    case "assign":
      return change.toDeviceId === null ? null : { action: "assign", to_device_id: change.toDeviceId };
  }
}

const DURATION = /^(\d{1,5}):([0-5]?\d)(?::([0-5]?\d))?$/;

/** Parses `h:mm` or `h:mm:ss`; null if the text is neither, or if the duration is 0. */
export function parseDuration(text: string): number | null {
  const match = DURATION.exec(text.trim());
  if (match === null) return null;
  const [, hours, minutes, seconds = "0"] = match;
  const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return ms === 0 ? null : ms;
}

/** Where a range is after a shift. */
export function shiftedRange({ range: { startMs, endMs } }: Selection, byMs: number) {
  return { startMs: startMs + byMs, endMs: endMs + byMs };
}
