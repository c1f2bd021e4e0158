import { formatDuration, parseDuration } from "../../lib/text/duration.ts";
import { parseDate } from "../../model/time/range.ts";
import { parseZone } from "../../model/time/zone.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../service/export/export-formats.ts";
import { oneOf, ruled, type ValueKind } from "../arguments/value-kinds.ts";

/** What the flags of `export` take. */

const METERS_MAX = 100_000;

/** Too many for a line of help, which names them elsewhere. */
export const FORMAT: ValueKind<ExportFormat> = ruled(
  "FORMAT",
  `be one of ${EXPORT_FORMATS.map(({ name }) => name).join(", ")}`,
  (text) => EXPORT_FORMATS.find(({ name }) => name === text) ?? null,
);

export const DATE = ruled("DATE", "be a date that exists, such as 2025-12-31", parseDate);

export const ZONE = ruled("ZONE", "be a time zone such as Europe/Berlin or +02:00", parseZone);

export const PACKING = oneOf("HOW", ["gzip", "zstd"] as const);

export const SPLIT = oneOf("BY", ["day", "month", "device"] as const);

/** A silence in milliseconds. */
export const GAP: ValueKind<number> = {
  ...ruled("TIME", "be a time such as 30m, 2h or 1d", parseDuration),
  format: formatDuration,
};

/** A distance in meters. */
export const TOLERANCE = ruled("DISTANCE", "be a distance such as 10m or 0.5km, at most 100km", (text) => {
  const [, count, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(m|km)$/.exec(text) ?? [];
  const meters = Number(count) * (unit === "km" ? 1000 : 1);
  return meters > 0 && meters <= METERS_MAX ? meters : null;
});
