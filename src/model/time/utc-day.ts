import { MS_PER_DAY } from "./units.ts";

/** A UTC day, counted from 1970-01-01 as 0. Days are sealed, retained and deleted as a whole. */
export type UtcDay = number & { readonly brand: "UtcDay" };

export function utcDayOf(timestampMs: number): UtcDay {
  return Math.floor(timestampMs / MS_PER_DAY) as UtcDay;
}

export function utcDayStartMs(day: UtcDay): number {
  return day * MS_PER_DAY;
}

export function nextUtcDay(day: UtcDay): UtcDay {
  return (day + 1) as UtcDay;
}

/** `YYYY-MM-DD`. */
export function utcDayName(day: UtcDay): string {
  return new Date(utcDayStartMs(day)).toISOString().slice(0, 10);
}

/** Reads a name as `utcDayName` writes it; null for anything else. */
export function parseUtcDayName(name: string): UtcDay | null {
  const startMs = /^\d{4}-\d\d-\d\d$/.test(name) ? Date.parse(name) : Number.NaN;
  if (Number.isNaN(startMs)) return null;
  const day = utcDayOf(startMs);
  return utcDayName(day) === name ? day : null;
}
