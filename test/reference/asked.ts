import { MS_PER_DAY } from "../../src/model/time/units.ts";
import type { Parameters } from "./query.ts";
import type { ReferenceRecord, ReferenceRecords } from "./records.ts";
import { type ShownIn, shownRecord } from "./shown.ts";

export interface ReferenceAnswer {
  readonly status: number;
  /** Members in the order of the wire. What only a measurement can tell is null; no number is rounded. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** What an app holds at an instant, and what of it is asked for. */
export interface Asked {
  readonly appId: string;
  readonly device: string;
  readonly user: string;
  readonly parameters: Parameters;
  readonly nowMs: number;
  readonly zone: string | null;
  /** Of the retention only, in the orders of `ReferenceRecords`. */
  readonly recordsOf: (deviceId: string) => readonly ReferenceRecord[];
  readonly records: () => readonly ReferenceRecord[];
  readonly newest: () => readonly ReferenceRecord[];
}

export const LIMIT = 100;
export const METERS_PER_MILE = 1609.344;
export const NOT_FOUND = "Device not found or does not belong to your app";

const RETENTION_DAYS = 365;

/** Records by whole UTC days of the retention. */
export function retained(
  app: ReferenceRecords,
  nowMs: number,
): Pick<Asked, "recordsOf" | "records" | "newest"> {
  const oldestMs = (Math.floor(nowMs / MS_PER_DAY) - RETENTION_DAYS) * MS_PER_DAY;
  const isRetained = ({ timestamp }: ReferenceRecord) => timestamp >= oldestMs;
  return {
    recordsOf: (deviceId) => app.recordsOf(deviceId).filter(isRetained),
    records: () => app.records().filter(isRetained),
    newest: () => app.newest().filter(isRetained),
  };
}

export function show({ appId, zone }: Asked, kind: ShownIn) {
  return (record: ReferenceRecord) => shownRecord(record, kind, appId, zone);
}

/** A record that does not tell its accuracy stays. */
export function isAccurate({ horizontal_accuracy }: ReferenceRecord, metersMax: number | undefined): boolean {
  return metersMax === undefined || horizontal_accuracy === undefined || !(horizontal_accuracy > metersMax);
}

export function ok(body: ReferenceAnswer["body"]): ReferenceAnswer {
  return { status: 200, body };
}
