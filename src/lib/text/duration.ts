import { assert } from "../assert.ts";

/** Six digits reach 19,000 years in weeks, and keep every sum with a time of day a valid date. */
const DURATION = /^(\d{1,6})([smhdw])$/;

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Milliseconds of `30s`, `90m`, `12h`, `30d` or `2w`; null for anything else, and for zero (`0d`). */
export function parseDuration(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  return Number(count) * UNIT_MS[unit]! || null;
}

/** A duration of whole seconds, in the greatest unit that divides it. */
export function formatDuration(durationMs: number): string {
  const unit = Object.keys(UNIT_MS).findLast((name) => durationMs % UNIT_MS[name]! === 0);
  assert(unit !== undefined, "a duration is a number of whole seconds");
  return `${durationMs / UNIT_MS[unit]!}${unit}`;
}

/** For people: in the largest unit of which there are at least two, such as 90 s, 25 min or 3 days. */
export function roughDuration(seconds: number): string {
  const { length, name } = ROUGH_UNITS.find(({ length }) => seconds >= 2 * length) ?? ROUGH_UNITS.at(-1)!;
  return `${Math.round(seconds / length)} ${name}`;
}

const ROUGH_UNITS = [
  { length: 86_400, name: "days" },
  { length: 3600, name: "h" },
  { length: 60, name: "min" },
  { length: 1, name: "s" },
] as const;
