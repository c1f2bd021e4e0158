import type { TracksAnswer } from "../api/answers.ts";
import type { Api } from "../api/api.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { metersBetween } from "../geo/earth.ts";
import { type PastPoint, TAIL_MS, type TailBuffer } from "./tail-buffer.ts";

/* The tails of the minutes before the page was opened. */

/** Tails of more devices would be a large answer, and on the map a carpet. */
const DEVICES_MAX = 20_000;
/** Half a pixel, since tails are thin. */
const TOLERANCE_PIXELS = 0.5;
const TOLERANCE_METERS = { min: 5, max: 1000 };
/** Slower devices stand. */
const SPEED_MIN = 0.7;

/**
 * Loads the ways of the last minutes, and adds them to the tails unless the table has been filled again meanwhile. They
 * are an ornament, so a failure changes nothing.
 */
export async function loadPastTails(
  api: Pick<Api, "get">,
  table: DeviceTable,
  tails: TailBuffer,
  { nowMs, pixelMeters }: { readonly nowMs: number; readonly pixelMeters: number },
): Promise<void> {
  const { edition, size } = table;
  if (size === 0 || size > DEVICES_MAX) return;
  const { min, max } = TOLERANCE_METERS;
  const meters = Math.round(Math.max(min, Math.min(max, TOLERANCE_PIXELS * pixelMeters)));
  const query = { start: nowMs - TAIL_MS, end: nowMs, tolerance_meters: meters };
  let answer: TracksAnswer;
  try {
    answer = await api.get<TracksAnswer>("/api/v1/tracks", query);
  } catch {
    return;
  }
  if (table.edition === edition) addPastTails(answer, table, tails, nowMs);
}

export function addPastTails(
  { device_id, first, gaps, timestamp, latitude, longitude }: TracksAnswer,
  table: DeviceTable,
  tails: TailBuffer,
  nowMs: number,
): void {
  const isGap = new Set(gaps);
  const pointAt = (at: number): PastPoint => ({
    timestampMs: timestamp[at]!,
    latitude: latitude[at]!,
    longitude: longitude[at]!,
  });
  for (const [place, id] of device_id.entries()) {
    const row = table.rowOf(id);
    if (row === undefined) continue;
    const end = first[place + 1] ?? timestamp.length;
    for (let at = first[place]! + 1; at < end; at++) {
      const [from, to] = [pointAt(at - 1), pointAt(at)];
      const meters = metersBetween(from.latitude, from.longitude, to.latitude, to.longitude);
      const isDrive = meters >= (SPEED_MIN * (to.timestampMs - from.timestampMs)) / 1000;
      if (isDrive && !isGap.has(at)) tails.addPast(table, row, from, to, nowMs);
    }
  }
}
