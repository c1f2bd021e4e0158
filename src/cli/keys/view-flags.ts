import { isPrecision, PRECISION_METERS, VIEW_DEVICES_MAX } from "../../auth/view.ts";
import { readTimeMs } from "../../clients/reading/time.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { parseDuration } from "../../lib/text/duration.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { FlagRows, FlagValues } from "../arguments/flag-row.ts";
import { DEVICE, ruled, type ValueKind } from "../arguments/value-kinds.ts";

/* The flags of `keys create` for share links and for the end of a key. */

/** A lifetime from now, or an instant. */
export type Ending = { readonly afterMs: number } | { readonly atMs: number };

export const ENDING: ValueKind<Ending> = ruled(
  "TIME",
  "be a time such as 90m, 12h, 30d or 2w, or an instant with its zone such as 2026-04-01T18:00+02:00",
  (text) => {
    const [afterMs, atMs] = [parseDuration(text), parseInstant(text)];
    if (afterMs !== null) return { afterMs };
    return atMs === null ? null : { atMs };
  },
);

const INSTANT = ruled(
  "INSTANT",
  "be an instant with its zone, such as 2026-04-01T18:00+02:00 or 2026-04-01T16:00Z",
  parseInstant,
);

const PRECISION = ruled(
  "METERS",
  `be a number of meters from ${PRECISION_METERS.minimum} to ${PRECISION_METERS.maximum}`,
  (text) => (/^\d+$/.test(text) && isPrecision(Number(text)) ? Number(text) : null),
);

/** They include `--show-device`, since `--device` binds a key that reports. */
export const VIEW_FLAGS = {
  shownDevices: {
    name: "show-device",
    takes: DEVICE,
    repeats: true,
    otherwise: "none",
    does: "a device that a share link shows",
  },
  notBeforeMs: {
    name: "not-before",
    takes: INSTANT,
    otherwise: "now",
    does: "the first instant that the share link shows: 2026-04-01T18:00+02:00",
  },
  precisionMeters: {
    name: "precision",
    takes: PRECISION,
    otherwise: "exact",
    does: "round positions to cells of this width in meters, and times to minutes",
  },
} as const satisfies FlagRows;

/** The view in a command line. A null start means now. */
export interface RequestedView {
  readonly deviceIds: readonly DeviceId[];
  readonly notBeforeMs: number | null;
  readonly precisionMeters: number | null;
}

/** Parses the view of a key with the permission `view`. */
export function parseView(
  { shownDevices, notBeforeMs, precisionMeters }: FlagValues<typeof VIEW_FLAGS>,
  ends: Ending | null,
): Result<RequestedView, string> {
  if (shownDevices.length === 0) return fail("--permission view needs --show-device");
  const deviceIds = [...new Set(shownDevices)];
  if (deviceIds.length > VIEW_DEVICES_MAX)
    return fail(`--permission view takes at most ${VIEW_DEVICES_MAX} devices, not ${deviceIds.length}`);
  if (ends === null) return fail("--permission view needs --expires: a share link has an end");
  return ok({ deviceIds, notBeforeMs, precisionMeters });
}

/** Whether a flag of a view is present. */
export function isAboutView({ shownDevices, ...others }: FlagValues<typeof VIEW_FLAGS>): boolean {
  return shownDevices.length > 0 || others.notBeforeMs !== null || others.precisionMeters !== null;
}

/** Unix ms; null if the zone is missing. */
function parseInstant(text: string): number | null {
  return /^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) ? readTimeMs(text) : null;
}
