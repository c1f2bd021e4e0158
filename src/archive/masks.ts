import { masksDay, type PendingErasure } from "../model/erasure.ts";
import type { AppId } from "../model/ids.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../model/time/utc-day.ts";
import type { SqlValues } from "./duckdb/database.ts";
import { findSealed, type Manifest } from "./manifest.ts";

// What no read shows although files still have it: records that an erasure destroys, until a seal has written the files
// of their day anew. A mask names devices and users as they reported, and is bound to statements as values.

/** The records of one app that are masked in some days. */
export interface Mask {
  /** The days that have such records, perhaps. */
  readonly days: ReadonlySet<UtcDay>;
  readonly values: MaskValues;
}

/**
 * Lists of equal length. A record is masked if it is of the device or the user at an index, and in the range there. One
 * of the two is empty, which no id is. Times are numbers as texts.
 */
export interface MaskValues extends SqlValues {
  readonly maskDevices: readonly string[];
  readonly maskUsers: readonly string[];
  readonly maskStarts: readonly string[];
  readonly maskEnds: readonly string[];
}

/** The masks of one moment. */
export interface Masks {
  /** What is masked of the app's records in the files of these days; null if nothing. */
  of(appId: AppId, days: Iterable<UtcDay>): Mask | null;
}

export const NO_MASKS: Masks = { of: () => null };

export function createMasks(manifest: Manifest, erasures: readonly PendingErasure[]): Masks {
  if (erasures.length === 0) return NO_MASKS;
  const all = [...erasures]; // Later ones join the same list.
  return {
    of(appId, days) {
      const ofApp = all.filter((erasure) => erasure.appId === appId);
      if (ofApp.length === 0) return null;
      const sorted = [...new Set(days)].sort((a, b) => a - b);
      const rows = new MaskRows();
      for (const erasure of ofApp) rows.add(erasure, maskedDays(erasure, sorted, manifest));
      return rows.mask();
    },
  };
}

/** The days, of these, whose files may still have records that an erasure destroys. */
export function maskedDays(
  erasure: PendingErasure,
  days: readonly UtcDay[],
  manifest: Manifest,
): readonly UtcDay[] {
  return days.filter((day) => masksDay(erasure, rangeOf(day), findSealed(manifest, day)?.cleared ?? 0));
}

class MaskRows {
  readonly #days = new Set<UtcDay>();
  readonly #devices: string[] = [];
  readonly #users: string[] = [];
  readonly #starts: string[] = [];
  readonly #ends: string[] = [];

  /** Adds rows for what the erasure destroys in these days, which are sorted. */
  add({ deviceIds, userId, range }: PendingErasure, days: readonly UtcDay[]): void {
    for (const day of days) this.#days.add(day);
    for (let from = 0; from < days.length; ) {
      let to = from + 1;
      while (to < days.length && days[to] === days[to - 1]! + 1) to++;
      const start = Math.max(range.startMs, rangeOf(days[from]!).startMs);
      const end = Math.min(range.endMs, rangeOf(days[to - 1]!).endMs);
      for (const deviceId of userId === null ? deviceIds : [""]) {
        this.#devices.push(deviceId);
        this.#users.push(userId ?? "");
        this.#starts.push(String(start));
        this.#ends.push(String(end));
      }
      from = to;
    }
  }

  mask(): Mask | null {
    if (this.#starts.length === 0) return null;
    const values = {
      maskDevices: this.#devices,
      maskUsers: this.#users,
      maskStarts: this.#starts,
      maskEnds: this.#ends,
    };
    return { days: this.#days, values };
  }
}

function rangeOf(day: UtcDay) {
  return { startMs: utcDayStartMs(day), endMs: utcDayStartMs(nextUtcDay(day)) };
}

/** A statement with the rows of a table or query that `MaskValues` leave; conditions may be appended. */
export function unmaskedSql(rows: string): string {
  return `(SELECT * FROM (${rows}) r ANTI JOIN (SELECT unnest($maskDevices) AS device_id,
      unnest($maskUsers) AS user_id, unnest($maskStarts)::BIGINT AS start_ms, unnest($maskEnds)::BIGINT AS end_ms) m
    ON (m.device_id = r.device_id OR m.user_id = r.user_id)
      AND r.timestamp >= m.start_ms AND r.timestamp < m.end_ms) WHERE true`;
}
