import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { type Contribution, possibleValues, type RecordHistory, recordKey } from "./model.ts";
import { type ObservedApp, SHOWN_OF_APP, type ShownRecord } from "./observe.ts";

export interface Expectation {
  readonly histories: Iterable<RecordHistory>;
  /** Nothing before it is answered. */
  readonly edgeMs: number;
  /** Whether it may be missing right now. */
  isLoose(contribution: Contribution): boolean;
  /** Whether the service has said that it does not know all newest positions. */
  readonly mayLackNewest: boolean;
}

/** How what a service answers differs from what it must; null where it does not. */
export function findMismatch(expected: Expectation, observed: ObservedApp): string | null {
  const isAnswered = ({ timestampMs }: RecordHistory) =>
    timestampMs >= expected.edgeMs && !observed.damagedDays.has(utcDayOf(timestampMs));
  const known = new Map<string, readonly (ShownRecord | null)[]>();
  const newestMs = new Map<string, number>();
  for (const record of expected.histories) {
    const { deviceId, timestampMs } = record;
    const values = possibleValues(record, expected.isLoose);
    const key = recordKey(deviceId, timestampMs);
    known.set(key, values);
    if (!values.includes(null) && !expected.mayLackNewest) {
      newestMs.set(deviceId, Math.max(newestMs.get(deviceId) ?? Number.NEGATIVE_INFINITY, timestampMs));
    }
    if (!isAnswered(record)) continue;
    const found = observed.records.get(key) ?? null;
    const inApp = values.map(shownOfApp);
    if (!isOneOf(shownOfApp(found), inApp)) return differs(`record ${nameOf(key)}`, inApp, shownOfApp(found));
    const whole = observed.whole.get(key);
    if (whole !== undefined && !isOneOf(whole, values))
      return differs(`record ${nameOf(key)} of its device`, values, whole);
  }
  for (const [key, found] of observed.records) {
    if (!known.has(key)) return differs(`record ${nameOf(key)}`, [null], found);
  }
  return findNewestMismatch(observed, known, newestMs, expected.edgeMs);
}

function shownOfApp(record: ShownRecord | null): ShownRecord | null {
  if (record === null) return null;
  return Object.fromEntries(
    SHOWN_OF_APP.filter((name) => name in record).map((name) => [name, record[name]]),
  );
}

/** The newest position must be that of a record, and no older than the newest that can't be missing. */
function findNewestMismatch(
  { newest }: ObservedApp,
  known: ReadonlyMap<string, readonly (ShownRecord | null)[]>,
  newestMs: ReadonlyMap<string, number>,
  edgeMs: number,
): string | null {
  for (const [deviceId, found] of newest) {
    const key = recordKey(deviceId, Number(found.timestamp));
    const values = known.get(key) ?? [];
    if (!isOneOf(found, values)) return differs(`the newest of ${deviceId}`, values, found);
  }
  for (const [deviceId, timestampMs] of newestMs) {
    if (timestampMs < edgeMs) continue;
    const found = newest.get(deviceId) ?? null;
    if (found === null || Number(found.timestamp) < timestampMs) {
      const wanted = known.get(recordKey(deviceId, timestampMs))!;
      return differs(`the newest of ${deviceId}`, wanted, found);
    }
  }
  return null;
}

function isOneOf(found: ShownRecord | null, values: readonly (ShownRecord | null)[]): boolean {
  return values.some((value) => Bun.deepEquals(value, found));
}

function differs(what: string, values: readonly (ShownRecord | null)[], found: ShownRecord | null): string {
  const expected = [...new Set(values.map(textOf))].join("\n           or ");
  return `${what}\n  expected ${expected}\n  found    ${textOf(found)}`;
}

function textOf(record: ShownRecord | null): string {
  return record === null ? "nothing" : JSON.stringify(record, Object.keys(record).sort());
}

function nameOf(key: string): string {
  const at = key.lastIndexOf(" ");
  return `${key.slice(0, at)} at ${new Date(Number(key.slice(at + 1))).toISOString()}`;
}

export function dayNames(days: Iterable<UtcDay>): string {
  return [...days].map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10)).join(", ");
}
