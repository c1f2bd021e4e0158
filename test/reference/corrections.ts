import { haversineMeters } from "../../src/model/geo/distance.ts";
import { erasedReports, type PlannedErasure, planErasure, type WantedErasure } from "./erasures.ts";
import {
  createReferenceRecords,
  type ReferenceRecord,
  type ReferenceRecords,
  type ReferenceReport,
} from "./records.ts";

/*
 * Corrections the obvious way: the model keeps all reports and corrections in the order of the log. One that is
 * active takes the reports of its records away and reports the records in the corrected form instead; later reports of
 * these records are led through it. What comes out are the reports as if they had been sent in the corrected form, and
 * all answers follow from those. Nothing here knows where a record lies.
 */

/** The body of a request that makes a correction. */
export interface WantedCorrection {
  readonly action: "hide" | "move" | "shift_time" | "assign";
  readonly device_id: string;
  readonly timestamps?: readonly number[];
  readonly start?: number;
  readonly end?: number;
  readonly bbox?: readonly [west: number, south: number, east: number, north: number];
  readonly circle?: { readonly latitude: number; readonly longitude: number; readonly radius_meters: number };
  readonly accuracy_above?: number;
  readonly latitude?: number;
  readonly longitude?: number;
  readonly horizontal_accuracy?: number;
  readonly by_ms?: number;
  readonly to_device_id?: string;
  readonly to_user_id?: string;
}

/** What a correction asks for, and the records that it touches; of a `hide` their keys suffice. */
export interface TouchedRecords {
  readonly wanted: WantedCorrection;
  readonly records: readonly ReferenceReport[];
}

/** What a request must be answered, and the records that it touches, as answers show them before it. */
export interface PlannedCorrection {
  readonly wanted: WantedCorrection;
  readonly status: 200 | 400 | 404 | 409;
  /** That of a dry run, which may touch nothing. */
  readonly dryStatus: 200 | 400 | 404 | 409;
  readonly records: readonly ReferenceRecord[];
}

export interface ReferenceCorrection {
  readonly id: string;
  readonly state: "active" | "undone";
  readonly records: number;
}

export interface ReferenceCorrections {
  readonly appId: string;
  report(reports: readonly ReferenceReport[]): void;
  /** The reports as answers count them, in the order of the log. */
  corrected(): readonly ReferenceReport[];
  /** The records that answers show. */
  shown(): ReferenceRecords;
  plan(wanted: WantedCorrection, nowMs: number): PlannedCorrection;
  make(id: string, touched: TouchedRecords): void;
  undo(id: string): void;
  /** Later active corrections of the same records, which must be undone first; sorted. */
  laterThan(id: string): readonly string[];
  /** Newest first. */
  list(): readonly ReferenceCorrection[];
  /** What was reported and not erased, as it was reported, in the order of the log. */
  reported(): readonly ReferenceReport[];
  planErasure(wanted: WantedErasure): PlannedErasure;
  /** Destroys records. Of the corrections that may go, those stay that are left in the service's list. */
  erase(planned: PlannedErasure, left: ReadonlySet<string>): void;
}

export interface MadeCorrection {
  readonly id: string;
  isActive: boolean;
  /** How many records it touched. */
  readonly records: number;
  /** The devices that have its records, before and after it. */
  readonly devices: readonly [string, string];
  /** The first and the last time of these records, and how much later it shows them. */
  readonly firstMs: number;
  readonly lastMs: number;
  readonly byMs: number;
  /** The records that it touches. */
  readonly keys: ReadonlySet<string>;
  /** These records in the corrected form, as reports; none if nothing shows them. */
  readonly rows: readonly ReferenceReport[];
  /** What becomes of a report of such a record; null if nothing shows it. */
  change(report: ReferenceReport): ReferenceReport | null;
  /** The device of which it touches all records, and all later ones; null if `keys` has what it touches. */
  readonly ofDevice: string | null;
  /** The user to whom it gives them; null if they keep theirs. */
  readonly toUser: string | null;
  /** Times of the reports that it led to another device. */
  readonly times: Set<number>;
}

/** A report on its way through corrections. */
interface Led {
  readonly report: ReferenceReport;
  /**
   * The assignments of devices that it went through, the last first. Of an instant, only the reports of the shortest
   * way count, and of ways that are equally long, those of the way that was assigned first.
   */
  readonly way: readonly number[];
}

/** What became of a record, or of one of its reports. */
export function changedBy(wanted: WantedCorrection, report: ReferenceReport): ReferenceReport | null {
  const { action, latitude, longitude, horizontal_accuracy, by_ms, to_device_id, to_user_id } = wanted;
  if (action === "hide") return null;
  if (action === "assign")
    return {
      ...report,
      device_id: to_device_id ?? report.device_id,
      ...(to_user_id === undefined ? {} : { user_id: to_user_id }),
    };
  if (action === "shift_time") return { ...report, timestamp: report.timestamp + by_ms! };
  return {
    ...report,
    ...{ latitude, longitude },
    ...(horizontal_accuracy === undefined ? {} : { horizontal_accuracy }),
  };
}

export function createReferenceCorrections(appId: string): ReferenceCorrections {
  let log: ({ readonly report: ReferenceReport } | { readonly correction: MadeCorrection })[] = [];
  let made: MadeCorrection[] = [];
  let corrected: readonly ReferenceReport[] | null = null;
  let shown: ReferenceRecords | null = null;

  function forget(): void {
    corrected = null;
    shown = null;
  }

  /** 200 if a correction of these records can be made. */
  function refusalOf(
    wanted: WantedCorrection,
    selected: readonly ReferenceRecord[],
    nowMs: number,
  ): 200 | 400 | 409 {
    if (wanted.action === "move" && selected.length > 1) return 400;
    const rows = selected.map((record) => changedBy(wanted, record)).filter((row) => row !== null);
    if (wanted.action === "shift_time" && rows.some(({ timestamp }) => timestamp > nowMs)) return 400;
    const leaving = new Set(selected.map(keyOf));
    const others = rows.filter((row) => !leaving.has(keyOf(row)));
    const isTaken = ({ device_id, timestamp }: ReferenceReport) =>
      corrections
        .shown()
        .recordsOf(device_id)
        .some((record) => record.timestamp === timestamp);
    const isAssigned = (row: ReferenceReport) =>
      made.some((each) => each.isActive && each.ofDevice === row.device_id && !isOfUserAlone(each));
    return others.some(isTaken) || rows.some(isAssigned) ? 409 : 200;
  }

  function readLog(): ReferenceReport[] {
    const active: MadeCorrection[] = [];
    let reports: Led[] = [];
    for (const { times } of made) times.clear();
    for (const entry of log) {
      if ("report" in entry) {
        const led = leadThrough({ report: entry.report, way: [] }, active);
        if (led !== null) reports.push(led);
        continue;
      }
      const { correction } = entry;
      if (!correction.isActive) continue;
      if (correction.ofDevice === null) {
        reports = reports.filter(({ report }) => !correction.keys.has(keyOf(report)));
        reports.push(...correction.rows.map((report) => ({ report, way: [] })));
      } else reports = reports.map((led) => leadThrough(led, [correction])!);
      active.push(correction);
    }
    return nearest(reports);
  }

  function leadThrough(first: Led, active: readonly MadeCorrection[]): Led | null {
    let { report, way } = first;
    for (const [at, correction] of active.entries()) {
      const { keys, ofDevice, times, change } = correction;
      if (ofDevice !== null && ofDevice === report.device_id) {
        times.add(report.timestamp);
        report = change(report)!;
        way = [made.indexOf(correction), ...way];
        // The instant belongs to the other device, if a correction has touched it before.
        const isTaken = (each: MadeCorrection) => instantsOf(each).includes(keyOf(report));
        if (!isOfUserAlone(correction) && active.slice(0, at).some(isTaken)) return null;
      } else if (keys.has(keyOf(report))) {
        const changed = change(report);
        if (changed === null) return null;
        report = changed;
        way = [];
      }
    }
    return { report, way };
  }

  function planAssignment(wanted: WantedCorrection, records: readonly ReferenceRecord[]): PlannedCorrection {
    const { device_id, to_device_id } = wanted;
    const active = made.filter(({ isActive }) => isActive);
    const isAssigned = active.some(({ ofDevice }) => ofDevice === device_id || ofDevice === to_device_id);
    const taken = new Set(active.flatMap(instantsOf));
    if (to_device_id !== undefined)
      for (const record of corrections.shown().recordsOf(to_device_id)) taken.add(keyOf(record));
    const isTaken = records.some(({ timestamp }) => taken.has(`${timestamp} ${to_device_id}`));
    const known = records.length === 0 ? 404 : isTaken ? 409 : 200;
    const status = isAssigned ? 409 : known;
    return { wanted, status, dryStatus: status, records };
  }

  const corrections: ReferenceCorrections = {
    appId,
    report(more) {
      log.push(...more.map((report) => ({ report })));
      forget();
    },
    corrected() {
      corrected ??= readLog();
      return corrected;
    },
    shown() {
      if (shown === null) {
        shown = createReferenceRecords(appId);
        shown.report(corrections.corrected());
      }
      return shown;
    },
    plan(wanted, nowMs) {
      const records = corrections.shown().recordsOf(wanted.device_id);
      if (isOfDevice(wanted)) return planAssignment(wanted, records);
      const selected = records.filter((record) => isSelected(record, wanted));
      const dryStatus = records.length === 0 ? 404 : refusalOf(wanted, selected, nowMs);
      const status = selected.length === 0 && dryStatus === 200 ? 400 : dryStatus;
      return { wanted, status, dryStatus, records: selected };
    },
    make(id, { wanted, records }) {
      const change = (report: ReferenceReport) => changedBy(wanted, report);
      const rows = records.map(change).filter((row) => row !== null);
      const ofDevice = isOfDevice(wanted);
      const correction: MadeCorrection = {
        ...{ id, isActive: true, records: records.length, change, times: new Set() },
        keys: new Set(ofDevice ? [] : records.map(keyOf)),
        rows: ofDevice ? [] : rows,
        ofDevice: ofDevice ? wanted.device_id : null,
        toUser: wanted.to_user_id ?? null,
        devices: [wanted.device_id, wanted.to_device_id ?? wanted.device_id],
        firstMs: Math.min(...records.map(({ timestamp }) => timestamp)),
        lastMs: Math.max(...records.map(({ timestamp }) => timestamp)),
        byMs: wanted.by_ms ?? 0,
      };
      made.push(correction);
      log.push({ correction });
      forget();
    },
    laterThan(id) {
      corrections.corrected(); // Finds the times of assigned devices.
      const at = made.findIndex((correction) => correction.id === id);
      const correction = made[at]!;
      const { ofDevice, devices, times } = correction;
      const toDevice = devices.at(-1)!;
      const own =
        ofDevice === null ? instantsOf(correction) : [...times].map((time) => `${time} ${toDevice}`);
      const later = made.slice(at + 1).filter((other) => other.isActive);
      if (isOfUserAlone(correction))
        return later.filter((other) => other.devices.includes(toDevice)).map((other) => other.id);
      const touches = (other: MadeCorrection, index: number) => {
        if (other.ofDevice !== null) return devices.includes(other.ofDevice);
        // What is made once a device is assigned to a user is of what shows then, so it is undone before that.
        const before = later.slice(0, index).filter(isOfUserAlone);
        const isApart = (key: string) => before.some(({ ofDevice }) => key.endsWith(` ${ofDevice}`));
        return instantsOf(other).some((key) => own.includes(key) && !isApart(key));
      };
      return later.filter(touches).map((other) => other.id);
    },
    undo(id) {
      for (const correction of made) if (correction.id === id) correction.isActive = false;
      forget();
    },
    list: () =>
      made
        .map(({ id, isActive, records }) => {
          const state: ReferenceCorrection["state"] = isActive ? "active" : "undone";
          return { id, state, records };
        })
        .reverse(),
    reported: () => log.flatMap((entry) => ("report" in entry ? [entry.report] : [])),
    planErasure: (wanted) => planErasure(corrections, made, wanted),
    erase(planned, left) {
      const isGone = erasedReports(planned, appId, corrections.reported());
      const stays = ({ id }: MadeCorrection) =>
        !planned.going.has(id) && (!planned.mayGo.has(id) || left.has(id));
      log = log.filter((entry) => ("report" in entry ? !isGone(entry.report) : stays(entry.correction)));
      made = made.filter(stays);
      forget();
    },
  };
  return corrections;
}

/** Whether a correction is about all that a device reports. */
function isOfDevice({ action, timestamps, start }: WantedCorrection): boolean {
  return action === "assign" && timestamps === undefined && start === undefined;
}

/** Whether it makes all records of a device show as another user's. */
function isOfUserAlone({ ofDevice, devices }: MadeCorrection): boolean {
  return ofDevice !== null && ofDevice === devices[1];
}

/** The reports that count: of each instant those that went the nearest way. */
function nearest(all: readonly Led[]): ReferenceReport[] {
  const ways = new Map<string, readonly number[]>();
  for (const { report, way } of all) {
    const known = ways.get(keyOf(report));
    if (known === undefined || compareWays(way, known) < 0) ways.set(keyOf(report), way);
  }
  return all
    .filter(({ report, way }) => compareWays(way, ways.get(keyOf(report))!) === 0)
    .map(({ report }) => report);
}

function compareWays(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((each, index) => each !== b[index]);
  if (at < 0) return a.length - b.length;
  return at >= b.length ? 1 : a[at]! - b[at]!;
}

/** The instants from which a correction takes records, and those at which it shows them. */
export function instantsOf({ keys, rows }: MadeCorrection): string[] {
  return [...keys, ...rows.map(keyOf)];
}

function keyOf({ device_id, timestamp }: ReferenceReport): string {
  return `${timestamp} ${device_id}`;
}

function isSelected(record: ReferenceRecord, wanted: WantedCorrection): boolean {
  const { timestamp, latitude, longitude, horizontal_accuracy } = record;
  const { timestamps, start, end, bbox, circle, accuracy_above } = wanted;
  if (timestamps !== undefined) return timestamps.includes(timestamp);
  if (timestamp < start! || timestamp >= end!) return false;
  if (bbox !== undefined && !isInBox(latitude, longitude, bbox)) return false;
  if (circle !== undefined) {
    const meters = haversineMeters(circle.latitude, circle.longitude, latitude, longitude);
    if (meters > circle.radius_meters) return false;
  }
  return accuracy_above === undefined || (horizontal_accuracy ?? 0) > accuracy_above;
}

/** The edges belong to the box, and 180 and -180 are one meridian. */
function isInBox(
  latitude: number,
  longitude: number,
  [west, south, east, north]: readonly [number, number, number, number],
): boolean {
  if (latitude < south || latitude > north) return false;
  return [longitude, ...(Math.abs(longitude) === 180 ? [-longitude] : [])].some((degrees) =>
    west <= east ? degrees >= west && degrees <= east : degrees >= west || degrees <= east,
  );
}
