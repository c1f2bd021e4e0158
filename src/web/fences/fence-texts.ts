import { counted, distanceText, type Units } from "../geo/units.ts";
import { durationText } from "../time/format.ts";
import type { EventKind, Fence, FenceEvent, FenceProperties, FenceSchedule } from "./fence.ts";
import { shapeText } from "./fence-shape.ts";

/* Geofences and their events in words. */

/** What a geofence does, a sentence each. */
export function rulesText(fence: Fence, units: Units): readonly string[] {
  const { properties } = fence;
  const { dwell_seconds, silence_minutes, initial, accuracy_meters_max, exit_buffer_meters } = properties;
  const length = (meters: number) => distanceText(meters, units);
  const texts = [shapeText(fence, length)];
  if (dwell_seconds !== undefined) texts.push(`Tells of a stay of ${durationText(dwell_seconds * 1000)}.`);
  if (silence_minutes !== undefined)
    texts.push(`A device that is silent for ${durationText(silence_minutes * 60_000)} leaves.`);
  if (initial === "event") texts.push("A device that is inside at first enters.");
  texts.push(...commonRules(properties));
  if (accuracy_meters_max !== undefined)
    texts.push(`Ignores positions less accurate than ${length(accuracy_meters_max)}.`);
  if (exit_buffer_meters !== undefined)
    texts.push(`Outside begins ${length(exit_buffer_meters)} beyond the border.`);
  return texts;
}

type CommonRules = Pick<
  FenceProperties,
  "active" | "confirm_seconds" | "confirmations" | "schedule" | "devices" | "users"
>;

/** The rules that alerts have, too. */
export function commonRules(rules: CommonRules): readonly string[] {
  const { active, confirm_seconds = 0, confirmations = 1, schedule, devices, users } = rules;
  const texts: string[] = [];
  if (active === false) texts.push("It makes no events: it is not active.");
  if (confirmations > 1 || confirm_seconds > 0) {
    const time = confirm_seconds === 0 ? "" : ` over ${durationText(confirm_seconds * 1000)}`;
    const positions = confirmations === 1 ? "positions" : counted(confirmations, "position");
    texts.push(`Changes once ${positions}${time} agree.`);
  }
  if (schedule !== undefined) texts.push(`${scheduleText(schedule)}.`);
  if (devices !== undefined) texts.push(`Applies to ${counted(devices.length, "device")}.`);
  if (users !== undefined) texts.push(`Applies to ${counted(users.length, "user")}.`);
  return texts;
}

/** `Mon, Tue 08:00 – 18:00, Europe/London, except 1 date`. */
export function scheduleText({ timezone, weekly, except = [] }: FenceSchedule): string {
  const hours = weekly.map(({ days, from, to }) => `${days.map(dayName).join(", ")} ${from} – ${to}`);
  const without = except.length === 0 ? "" : `, except ${counted(except.length, "date")}`;
  return `${hours.join("; ")}, ${timezone}${without}`;
}

/** `Mon`. */
export function dayName(day: string): string {
  return day.charAt(0).toUpperCase() + day.slice(1);
}

const BEGINNINGS: Readonly<Partial<Record<EventKind, string>>> = {
  enter: "Entered",
  dwell: "Stayed",
  alert_start: "Began",
};

const REASONS: Readonly<Record<string, string>> = {
  silent: "fell silent",
  schedule: "the hours ended",
  fence_changed: "the fence changed",
  fence_deleted: "the fence was deleted",
  alert_changed: "the alert changed",
  alert_deleted: "the alert was deleted",
};

/** `Entered`, `Left after 12 min`, `Left after 2 h: fell silent`, `Stayed`; of an alert `Began`, `Ended after 2 h`. */
export function eventText({ kind, duration_seconds, reason = "" }: FenceEvent): string {
  const beginning = BEGINNINGS[kind];
  if (beginning !== undefined) return beginning;
  const duration = duration_seconds === undefined ? "" : ` after ${durationText(duration_seconds * 1000)}`;
  const why = REASONS[reason];
  return `${kind === "alert_end" ? "Ended" : "Left"}${duration}${why === undefined ? "" : `: ${why}`}`;
}
