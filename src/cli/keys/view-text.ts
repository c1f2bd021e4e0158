import type { ViewSpec } from "../../auth/view.ts";

/** What a share link shows, in words. */

const NAMED_MAX = 3;

/** `"bus", "tram" from 2026-03-20T12:00:00Z on, in cells of 500 m and whole minutes`. */
export function viewText({ deviceIds, notBeforeMs, precisionMeters }: ViewSpec): string {
  const from = `from ${formatInstant(notBeforeMs)} on`;
  const cells = precisionMeters === null ? "" : `, in cells of ${precisionMeters} m and whole minutes`;
  return `${devicesText(deviceIds)} ${from}${cells}`;
}

function devicesText(ids: readonly string[]): string {
  const named = ids.slice(0, NAMED_MAX).map((id) => `"${id}"`);
  const others = ids.length - named.length;
  return others === 0 ? named.join(", ") : `${named.join(", ")} and ${others} more`;
}

/** UTC to the second. */
export function formatInstant(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}
