import { coordinatesText } from "../device/coordinates.ts";
import { counted, countText, speedText, type Units } from "../geo/units.ts";
import {
  clockText,
  dateText,
  dayMinuteText,
  durationText,
  minuteRangeText,
  minuteText,
} from "../time/format.ts";
import { dayAt, type TimeRange } from "../time/local-day.ts";
import type { Change } from "./change.ts";
import type { CorrectionRecord, Outlier } from "./correction-requests.ts";
import { isMoved, type Move, shiftText } from "./move.ts";
import type { Selection } from "./selection.ts";

/* The sentences about suspicious, selected and corrected positions. */

/** `3 suspicious positions`. */
export function suspiciousText(total: number): string {
  return total === 0 ? "No suspicious positions" : counted(total, "suspicious position");
}

/** Why a position is suspicious. */
export function reasonText({ reason, speed_mps }: Outlier, units: Units): string {
  switch (reason) {
    case "jump":
      return speed_mps === undefined ? "Jump" : `Jump, ${speedText(speed_mps, units)} there and back`;
    case "zero_position":
      return "Exactly at 0°, 0°";
    case "inaccurate":
      return "Inaccurate";
    default:
      return "Suspicious"; // A newer server may have more reasons.
  }
}

/** `12 positions`; `All positions` if the page doesn't know how many there are. */
function countOf({ timestampMs, isExact }: Selection): string {
  return isExact ? counted(timestampMs.length, "position") : "All positions";
}

/** `12 positions, 12:02 – 12:09 UTC`. The server may have counted them. */
export function selectionText(selection: Selection, zone: string, records: number | null = null): string {
  const count = records === null ? countOf(selection) : counted(records, "position");
  return `${count}, ${rangeText(selection.range, zone)}`;
}

/** The button that hides all listed outliers: a correction takes no more than the server lists. */
export function hideAllText(listed: number, total: number): string {
  if (total === 1) return "Hide it…";
  return `Hide ${listed < total ? "the first" : "all"} ${countText(listed)}…`;
}

/** What the user confirms: `Hide 12 positions?`. They may not be counted yet. */
export function confirmTitle({ action }: Change, records: number | null): string {
  const verb = action === "hide" ? "Hide" : "Correct";
  return `${verb} ${records === null ? "all positions of this time" : counted(records, "position")}?`;
}

const VERBS: Readonly<Record<Change["action"], readonly [verb: string, going: string]>> = {
  hide: ["Hide", "Hiding…"],
  shift_time: ["Shift", "Shifting…"],
  assign: ["Give", "Giving…"],
};

/** The button that does it. */
export function confirmText({ action }: Change, records: number | null, isSending: boolean): string {
  const [verb, going] = VERBS[action];
  if (isSending) return going;
  return records === null ? verb : `${verb} ${counted(records, "position")}`;
}

const DONE: Readonly<Record<string, string>> = {
  hide: "hidden",
  move: "moved",
  shift_time: "shifted in time",
};

/** What has been done: `12 positions are hidden.` */
export function doneText(correction: CorrectionRecord, labelOf: (deviceId: string) => string): string {
  const { action, records, to_device_id } = correction;
  const what =
    to_device_id === undefined ? (DONE[action] ?? "corrected") : `given to ${labelOf(to_device_id)}`;
  return positionsAre(records, what);
}

/** What has been undone: `12 positions are shown again.` */
export function undoneText({ action, records }: Pick<CorrectionRecord, "action" | "records">): string {
  if (action === "move") return "The position is back where it was reported.";
  return positionsAre(records, action === "hide" ? "shown again" : "as reported again");
}

function positionsAre(count: number, what: string): string {
  return `${counted(count, "position")} ${count === 1 ? "is" : "are"} ${what}.`;
}

/** The name of the handle that moves a position, with what its keys do. */
export function handleName(time: string): string {
  return `Position of ${time}: drag it, or press arrow keys, to move it`;
}

/** What a move does so far, or how to begin. */
export function moveText(move: Move, time: string, units: Units): string {
  return isMoved(move)
    ? `${time}: ${shiftText(move, units)} of where it was.`
    : `Drag the position of ${time}, or click where it belongs.`;
}

/** What a correction does: `12 positions hidden`. */
export function actionText(correction: CorrectionRecord, labelOf: (deviceId: string) => string): string {
  const { action, records, by_ms, to_device_id, to_user_id } = correction;
  const what = counted(records, "position");
  switch (action) {
    case "hide":
      return `${what} hidden`;
    case "move":
      return `${what} moved to ${placeText(correction)}`;
    case "shift_time":
      return by_ms === undefined
        ? `${what} at another time`
        : `${what} ${durationText(Math.abs(by_ms))} ${by_ms > 0 ? "later" : "earlier"}`;
    case "assign":
      if (to_device_id !== undefined) return `${what} given to ${labelOf(to_device_id)}`;
      return to_user_id === undefined ? `${what} given away` : `${what} given to the user ${to_user_id}`;
    default:
      return `${what} corrected`; // A newer server may have more actions.
  }
}

/** `51.50331, -0.11952`. */
function placeText({ latitude, longitude }: CorrectionRecord): string {
  if (latitude === undefined || longitude === undefined) return "another place";
  return coordinatesText(latitude, longitude);
}

/** When the records of a correction are: `10 Nov 2026, 12:02 – 12:09 UTC`, or both days. */
export function correctionTimes({ first, last }: CorrectionRecord, zone: string): string {
  const [from, to] = [dayAt(first, zone), dayAt(last, zone)];
  if (from !== to) return `${dateText(from)} – ${dateText(to)}`;
  return `${dateText(from)}, ${rangeText({ startMs: first, endMs: last }, zone)}`;
}

/** `By this key, 27 Nov 2026`; for other keys their id. */
export function makerText(
  { created, created_by }: CorrectionRecord,
  ownKeyId: string | null,
  zone: string,
): string {
  const who = created_by === ownKeyId ? "this key" : created_by;
  return `By ${who}, ${dateText(dayAt(created, zone))}`;
}

/** A time of day to the second, or two to the minute if they differ then; on several days with the days. */
export function rangeText({ startMs, endMs }: TimeRange, zone: string): string {
  if (dayAt(startMs, zone) !== dayAt(endMs, zone))
    return `${dayMinuteText(startMs, zone)} – ${dayMinuteText(endMs, zone)}`;
  const isShort = minuteText(startMs, zone) === minuteText(endMs, zone);
  return isShort ? clockText(startMs, zone) : minuteRangeText(startMs, endMs, zone);
}
