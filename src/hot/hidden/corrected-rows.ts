import { type DeviceAlias, deviceOf } from "../../model/device-alias.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Apps } from "../apps.ts";
import { DeviceTable, NO_DEVICE } from "../devices/device-table.ts";
import { type DayLedger, noteChange } from "../late/day-ledger.ts";
import { maskOf, profileAt, putRows, setTuples, stateAt, timestampAt, writeRow } from "../records/chunk.ts";
import { NO_TUPLE } from "../records/counted-tuples.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import type { Tracks } from "../records/tracks.ts";
import { ReportCollector } from "../scan/report-collector.ts";
import type { Corrections } from "./corrections.ts";
import { type CorrectedRow, type CorrectionsOfApp, coverOf, type HeldCorrection } from "./held-correction.ts";
import type { Place } from "./place.ts";

/**
 * Rows that corrections show instead of records. They lie among the records that answers show, also those of archived
 * days, where each stands alone, because its instant is hidden. A seal neither archives nor drops them. If a later
 * correction touches one, it lies aside until that is undone.
 */
export class CorrectedRows {
  readonly #apps: Apps;
  readonly #corrections: Corrections;
  readonly #ledger: DayLedger;
  readonly #dictionary: Dictionary;
  readonly #aside = new Map<AppId, RowsAside>();

  constructor(apps: Apps, ledger: DayLedger, dictionary: Dictionary, corrections: Corrections) {
    this.#apps = apps;
    this.#corrections = corrections;
    this.#ledger = ledger;
    this.#dictionary = dictionary;
  }

  /** Inserts the rows of a batch, which have one device and are sorted. */
  insert({ app, device }: Place, batch: ReportBatch): void {
    const dictionary = this.#dictionary;
    const { columns } = app.table;
    const tuples = dictionary.translate(batch);
    for (let row = 0; row < batch.count; row++) {
      const timeMs = batch.timestampMs[row]!;
      const profile = dictionary.asStored(tuples.profiles.numberOf(batch.profile[row]!, NO_TUPLE));
      const state = tuples.states.numberOf(batch.state[row]!, NO_TUPLE);
      const inserted = columns.tracks.insert(device, timeMs, maskOf(batch.numbers, row));
      writeRow(inserted.chunk, inserted.row, timeMs, batch.numbers, row);
      setTuples(inserted.chunk, inserted.row, profile, state);
      dictionary.retain(profile, state);
      this.#count(app, device, inserted, 1);
    }
    columns.corrected.add(device, batch.timestampMs);
  }

  /** Removes the rows of some sorted instants. */
  remove(shown: Place, timestampMs: Float64Array): void {
    this.#takeAway(shown, timestampMs, ({ chunk, row }) => {
      this.#dictionary.release(profileAt(chunk, row), stateAt(chunk, row));
    });
  }

  /** Moves the rows of some sorted instants to another place of records. */
  move(from: Place, to: Place, timestampMs: Float64Array): void {
    if (timestampMs.length === 0) return;
    const { tracks, corrected } = to.app.table.columns;
    this.#takeAway(from, timestampMs, (row, timeMs) => {
      this.#count(to.app, to.device, copyRow(row, tracks, to.device, timeMs), 1);
    });
    corrected.add(to.device, timestampMs);
  }

  /** Lays rows aside that a later correction touches. */
  cover(shown: Place, timestampMs: Float64Array, id: string): void {
    if (timestampMs.length === 0) return;
    const { table, numbers } = this.#asideOf(shown.app.appId);
    const number = numbers.get(id) ?? table.add(id as DeviceId).number;
    numbers.set(id, number);
    const { tracks } = table.columns;
    this.#takeAway(shown, timestampMs, (row, timeMs) => copyRow(row, tracks, number, timeMs));
  }

  /** Puts rows back that a correction covered. */
  uncover({ app, device }: Place, timestampMs: Float64Array, id: string): void {
    const aside = this.#aside.get(app.appId)?.table.find(id) ?? null;
    if (aside === null) return;
    const { table, numbers } = this.#asideOf(app.appId);
    const { tracks, corrected } = app.table.columns;
    const back = timestampMs.filter((timeMs) => {
      const row = aside.findRecord(timeMs);
      if (row !== null) this.#count(app, device, copyRow(row, tracks, device, timeMs), 1);
      return row !== null;
    });
    corrected.add(device, back);
    const asideTracks = table.columns.tracks;
    asideTracks.remove(aside.number, rangeOf(timestampMs), () => false);
    if (asideTracks.count(aside.number) > 0) return;
    table.remove(aside);
    numbers.delete(id);
  }

  /** Where a row is; null if it is gone. */
  find(app: AppDevices, { stage, timestampMs, coveredBy }: RowPlace): FoundRow | null {
    const alias = this.#corrections.find(app.appId)?.aliases.of(stage) ?? null;
    const home = alias === null ? app : this.#apps.findOrAddAliased(app.appId);
    const aside = this.#aside.get(app.appId);
    const number =
      coveredBy === null ? home.table.numberOf(deviceOf(stage)) : aside?.numbers.get(coveredBy.correction.id);
    if (number === undefined || number === NO_DEVICE) return null;
    const { tracks } = (coveredBy === null ? home : aside!).table.columns;
    const ref = tracks.find(number, timestampMs);
    return ref === null ? null : { tracks, number, ref, home, alias };
  }

  /** The rows of a correction from one index to before another as reports; null if some are gone. */
  read(
    app: AppDevices,
    ofApp: CorrectionsOfApp,
    item: HeldCorrection,
    from: number,
    to: number,
  ): ReportBatch | null {
    const { deviceId, byMs } = item.correction.target!;
    const stage = ofApp.stageFor(deviceId, item.number);
    const collector = new ReportCollector(to - from, this.#dictionary);
    const times = item.timestampMs.subarray(from, to).map((timeMs) => timeMs + byMs);
    for (let at = 0; at < times.length; at++) {
      const timestampMs = times[at]!;
      const coveredBy = coverOf(ofApp, item, stage, timestampMs);
      const place = { stage, timestampMs };
      const aside = coveredBy === null ? null : this.find(app, { ...place, coveredBy });
      // A correction that is under way may not have covered the row yet.
      const isShown = coveredBy === null || coveredBy === ofApp.underWay;
      const row = aside ?? (isShown ? this.find(app, { ...place, coveredBy: null }) : null);
      if (row === null) return null;
      collector.add(deviceId, row.ref.chunk, row.ref.row);
    }
    return collector.build();
  }

  /** Takes rows out of those that answers show. */
  #takeAway(
    { app, device }: Place,
    timestampMs: Float64Array,
    take: (row: RowRef, timeMs: number) => void,
  ): void {
    const { tracks, corrected } = app.table.columns;
    const away = timestampMs.filter((timeMs) => corrected.has(device, timeMs));
    const days = new Set<UtcDay>();
    for (const timeMs of away) {
      const row = tracks.find(device, timeMs)!;
      this.#count(app, device, row, -1);
      take(row, timeMs);
      days.add(this.#ledger.at(timeMs).day);
    }
    if (away.length === 0) return;
    const isAway = new Set(away);
    tracks.remove(device, rangeOf(away), (timeMs) => !isAway.has(timeMs));
    corrected.remove(device, away);
    for (const day of days) app.times.forget(day);
  }

  /** Counts a row that comes or goes. */
  #count(app: AppDevices, device: number, { chunk, row }: RowRef, change: 1 | -1): void {
    const timeMs = timestampAt(chunk, row);
    const day = this.#ledger.at(timeMs);
    const user = this.#dictionary.userOf(profileAt(chunk, row));
    app.recordCount += change;
    day.count += change;
    day.correctedCount += change;
    noteChange(day);
    if (change < 0) {
      app.users.discountRecord(device, user);
      return;
    }
    app.users.countRecord(device, user);
    app.lateMinutes.note(day.day, timeMs, device);
    app.times.note(day.day, timeMs, device);
  }

  #asideOf(appId: AppId): RowsAside {
    const known = this.#aside.get(appId);
    if (known !== undefined) return known;
    const aside = { table: new DeviceTable(), numbers: new Map() };
    this.#aside.set(appId, aside);
    return aside;
  }
}

/** The rows of an app that lie aside; the id of the later correction is in place of the device. */
interface RowsAside {
  readonly table: DeviceTable;
  /** The numbers of the ids in the table. */
  readonly numbers: Map<string, number>;
}

/** Where a row is to be: at an instant of a device or stage, unless a later correction laid it aside. */
type RowPlace = Pick<CorrectedRow, "stage" | "timestampMs" | "coveredBy">;

export interface FoundRow {
  /** The records that it is among, unless it lies aside. */
  readonly home: AppDevices;
  /** What its device shows as; null if it shows as itself. */
  readonly alias: DeviceAlias | null;
  readonly tracks: Tracks;
  readonly number: number;
  readonly ref: RowRef;
}

function rangeOf(timestampMs: Float64Array): TimeRange {
  return { startMs: timestampMs[0]!, endMs: timestampMs.at(-1)! + 1 };
}

/** Copies a row, which keeps its references to texts; the row itself is to be removed. */
function copyRow({ chunk, row }: RowRef, tracks: Tracks, device: number, timeMs: number): RowRef {
  const inserted = tracks.insert(device, timeMs, chunk.mask);
  putRows(inserted.chunk, inserted.row, chunk, row, row + 1);
  return inserted;
}
