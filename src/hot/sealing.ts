import { assert } from "../lib/assert.ts";
import type { AppId } from "../model/ids.ts";
import { createReportBatchBuilder, type RowBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../model/time/range.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { AppDevices } from "./app-devices.ts";
import type { Apps } from "./apps.ts";
import type { Device } from "./devices/device.ts";
import type { DeviceColumns } from "./devices/device-columns.ts";
import { NO_DEVICE } from "./devices/device-table.ts";
import type { AliasRows } from "./hidden/alias-rows.ts";
import { ChangedRecords } from "./late/changed-records.ts";
import { type DayLedger, isSealed, isWholeInMemory, type LedgerDay } from "./late/day-ledger.ts";
import { type PickedRow, RowCollector, wholeRow } from "./late/row-collector.ts";
import { type Chunk, profileAt, stateAt, timestampAt } from "./records/chunk.ts";
import type { Dictionary } from "./records/dictionary.ts";
import type { RowRef } from "./records/long-track.ts";
import { ReportCollector } from "./scan/report-collector.ts";

/** Records of one app, in order of device ids (UTF-8 bytes) and time. An empty batch only gives other work a turn. */
export interface AppRows {
  readonly appId: AppId;
  readonly batch: RowBatch;
  /** Whether they may belong before records of an earlier batch. */
  readonly isOutOfOrder: boolean;
}

/** Rows of a batch, a fraction of a millisecond of work. Requests are answered between two batches. */
const ROWS_A_BATCH = 512;
/** Devices looked at, or rows dropped, per step; also a fraction of a millisecond. */
const LOOKS_A_STEP = 1024;

const NO_RECORDS: RowBatch = { ...createReportBatchBuilder(0).build(), fixes: null };

/**
 * A seal in progress: days on their way from memory to the archive. Requests and reports continue meanwhile. A record
 * that changes after the seal has begun is archived as it was, and stays in memory as a late row. So the archive has
 * all reports up to `sequence` and none after it, which matters because merging a report twice may differ from merging
 * once.
 * The caller reads `rows` and `newest`, makes the archive durable, then calls `commit` and steps through `drop`; or
 * calls `abandon`, which leaves everything as it was.
 */
export class Sealing {
  /** The rows contain all reports up to this entry of the log. */
  readonly sequence: number;
  readonly #apps: Apps;
  readonly #ledger: DayLedger;
  readonly #dictionary: Dictionary;
  readonly #aliasRows: AliasRows;
  /** The newest day first. */
  #days: readonly LedgerDay[];
  #step: "reading" | "dropping" | "over" = "reading";

  constructor(
    apps: Apps,
    ledger: DayLedger,
    dictionary: Dictionary,
    aliasRows: AliasRows,
    days: readonly UtcDay[],
    sequence: number,
  ) {
    this.sequence = sequence;
    this.#apps = apps;
    this.#ledger = ledger;
    this.#dictionary = dictionary;
    this.#aliasRows = aliasRows;
    this.#days = [...days].sort((a, b) => b - a).map((day) => ledger.of(day));
    for (const day of this.#days) {
      assert(day.changed === null, "only one seal of a day runs at a time");
      day.changed = new ChangedRecords();
    }
  }

  /**
   * All records of a day, by app (UTF-8 bytes); those that corrections hide or took away meanwhile come after the app's
   * others. The caller may answer requests between two batches.
   */
  *rows(day: UtcDay): Iterable<AppRows> {
    assert(this.#step === "reading", "rows are read before they are dropped");
    const { startMs, endMs, changed } = this.#ledger.of(day);
    const progress = new ReadingProgress();
    changed!.hasRead = (columns, device, timestampMs) => progress.hasRead(columns, device, timestampMs);
    for (const app of this.#apps.allInOrder()) {
      const { appId, isHidden: isOutOfOrder } = app;
      const { columns } = app.table;
      let collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
      let looks = 0;
      for (const device of app.list.devices()) {
        if (device === null) {
          yield { appId, batch: NO_RECORDS, isOutOfOrder };
          continue;
        }
        if (++looks % LOOKS_A_STEP === 0) yield { appId, batch: NO_RECORDS, isOutOfOrder };
        const pick = (chunk: Chunk, row: number) => {
          const before = rowBefore(changed, device, chunk, row);
          // A record that went and came back is read here, and not once more at the end.
          if (before !== null) changed!.takeLeft(columns, device.number, timestampAt(chunk, row));
          return before;
        };
        // A report may come in between two batches, so the rows of the track are located by time again.
        for (let fromMs = startMs; fromMs < endMs; ) {
          fromMs = collector.addRows(device, fromMs, endMs, pick);
          progress.note(columns, device, fromMs);
          if (!collector.isFull) continue;
          yield { appId, batch: collector.build(), isOutOfOrder };
          collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
        }
      }
      progress.end(columns);
      if (collector.count > 0) yield { appId, batch: collector.build(), isOutOfOrder };
      collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
      for (const left of changed!.takeAllLeft(columns)) {
        if (collector.isFull) {
          yield { appId, batch: collector.build(), isOutOfOrder: true };
          collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
        }
        collector.addLeft(app.table.idOf(left.device), left);
      }
      if (collector.count > 0) yield { appId, batch: collector.build(), isOutOfOrder: true };
    }
  }

  /**
   * The newest record of each device among those archived and those of the days in `moving`, unless it is older than
   * `oldestMs`. Their order is not promised.
   */
  *newest(oldestMs: number, moving: ReadonlySet<UtcDay>): Iterable<AppRows> {
    const days = this.#days.filter(({ day }) => moving.has(day));
    for (const app of this.#apps.allInOrder()) {
      const { appId } = app;
      const places = this.#apps.placesOf(appId);
      let collector = new ReportCollector(ROWS_A_BATCH, this.#dictionary);
      for (const device of app.list.devices()) {
        if (device === null) {
          yield { appId, batch: NO_RECORDS, isOutOfOrder: false };
          continue;
        }
        const newest = newestArchived(app, device, days);
        if (
          newest !== null &&
          timeOf(newest) >= oldestMs &&
          !isAmongGone(places, days, device, timeOf(newest))
        )
          collector.add(device.id, newest.chunk, newest.row);
        if (!collector.isFull) continue;
        yield { appId, batch: { ...collector.build(), fixes: null }, isOutOfOrder: false };
        collector = new ReportCollector(ROWS_A_BATCH, this.#dictionary);
      }
      // What corrections took away meanwhile is archived all the same.
      for (const { changed } of days) {
        for (const [device, { chunk }] of changed!.goneOf(app.table.columns)) {
          if (timestampAt(chunk, 0) >= oldestMs) collector.add(app.table.idOf(device), chunk, 0);
          if (!collector.isFull) continue;
          yield { appId, batch: { ...collector.build(), fixes: null }, isOutOfOrder: false };
          collector = new ReportCollector(ROWS_A_BATCH, this.#dictionary);
        }
      }
      if (collector.count > 0)
        yield { appId, batch: { ...collector.build(), fixes: null }, isOutOfOrder: false };
    }
  }

  /**
   * Call once the archive has the days of `moved`, of which memory drops the rows. `sequences` has all archived days,
   * and `cleared` the entry of the log up to which erasures are gone from their files. Other days of this seal stay in
   * memory.
   */
  commit(
    moved: ReadonlySet<UtcDay>,
    sequences: ReadonlyMap<UtcDay, number>,
    cleared?: ReadonlyMap<UtcDay, number>,
  ): void {
    assert(this.#step === "reading", "a seal ends once");
    this.#step = "dropping";
    for (const day of this.#days) {
      if (!moved.has(day.day)) {
        this.#forgetChanges(day);
        continue;
      }
      const sequence = sequences.get(day.day);
      assert(sequence !== undefined, "a day that moved is sealed");
      // The log drops entries that the archive covers, so entries behind those that were read must not count as
      // covered.
      assert(
        sequence <= Math.max(this.sequence, day.sealedSequence),
        "a day that moved is covered no further than its rows were read",
      );
      day.isLeaving = true;
      day.isFirstSeal = !isSealed(day);
      day.changed!.removeSavedFixes();
    }
    this.#days = this.#days.filter(({ isLeaving }) => isLeaving);
    assert(this.#days.length === moved.size, "days that moved are among those that were read");
    this.#ledger.setSealed(sequences, cleared);
  }

  /** Frees the memory of the days that moved, in steps. */
  *drop(): Iterable<void> {
    assert(this.#step === "dropping", "rows are dropped once they are archived");
    let looks = 0;
    for (const app of this.#apps.allInOrder()) {
      for (const device of app.list.devices()) {
        if (device === null) {
          yield;
          continue;
        }
        if (device.recordCount > 0) this.#keepNewest(app, device);
        for (const part of this.#dayPartsOf(device)) {
          looks += 1 + this.#dropRows(app, device, part);
          if (looks < LOOKS_A_STEP) continue;
          looks = 0;
          yield* this.#endStep();
        }
        // Most devices may have no rows of the days.
        if (++looks < LOOKS_A_STEP) continue;
        looks = 0;
        yield* this.#endStep();
      }
      for (const { day } of this.#days) {
        app.lateMinutes.forget(day);
        app.times.forget(day);
      }
    }
    this.#dictionary.collect();
    for (const day of this.#days) {
      assert(
        day.count - day.correctedCount === day.changed?.count,
        "of a sealed day, only records that changed meanwhile and rows of corrections stay",
      );
      day.isLeaving = false;
      day.changed!.release(this.#dictionary);
      day.changed = null;
      for (const { table } of this.#apps.all()) table.columns.copies?.forgetOwn(day.startMs, day.endMs);
    }
    this.#dictionary.collect();
    assert(
      this.#ledger.recordCount === this.#apps.recordCount,
      "a record is counted by its day and by its app",
    );
    this.#step = "over";
  }

  *#endStep(): Iterable<void> {
    this.#dictionary.collect();
    yield;
  }

  /** Ends the seal without a change to memory. */
  abandon(): void {
    assert(this.#step === "reading", "a seal is not abandoned after its commit");
    this.#step = "over";
    for (const day of this.#days) this.#forgetChanges(day);
    this.#dictionary.collect();
  }

  /** The day stays in memory. If it is not sealed, its records lie over nothing, so their late fixes are not needed. */
  #forgetChanges(day: LedgerDay): void {
    if (!isSealed(day)) day.changed!.removeFixes();
    day.changed!.release(this.#dictionary);
    day.changed = null;
  }

  #keepNewest(app: AppDevices, device: Device): void {
    const newest = newestArchived(app, device, this.#days);
    if (newest !== null && timeOf(newest) >= device.archivedNewestMs) {
      app.archivedRows.set(device.number, newest);
      app.borrowed.delete(device.number);
    }
    this.#aliasRows.borrow({ app, device: device.number });
  }

  /** The days in parts of at most `LOOKS_A_STEP` rows of the device. Reports may come in between two parts. */
  *#dayPartsOf(device: Device): Iterable<DayPart> {
    for (const day of this.#days) {
      for (let startMs = day.startMs; startMs < day.endMs; ) {
        const next = device.countBefore(startMs) + LOOKS_A_STEP;
        const isLast = next >= device.countBefore(day.endMs);
        const endMs = isLast ? day.endMs : timeOf(device.recordAt(next));
        yield { day, startMs, endMs };
        startMs = endMs;
      }
    }
  }

  /** Returns how many rows it looked at. */
  #dropRows(app: AppDevices, device: Device, part: DayPart): number {
    const { day, startMs, endMs } = part;
    const [from, to] = [device.countBefore(startMs), device.countBefore(endMs)];
    if (from === to) return 0;
    const changed = day.changed!;
    const { corrected } = device.columns;
    const stays = (timestampMs: number) =>
      changed.has(device, timestampMs) || corrected.has(device.number, timestampMs);
    device.runs(from, to, (chunk, rowFrom, rowTo) => {
      for (let row = rowFrom; row < rowTo; row++) {
        if (stays(timestampAt(chunk, row))) continue;
        device.columns.fixes.remove(device.number, timestampAt(chunk, row));
        const profile = profileAt(chunk, row);
        app.users.discountRecord(device.number, this.#dictionary.userOf(profile));
        this.#dictionary.release(profile, stateAt(chunk, row));
        app.recordCount--;
        day.count--;
      }
    });
    device.columns.tracks.remove(device.number, part, stays);
    return to - from;
  }
}

/** How far a day's rows were read. */
class ReadingProgress {
  readonly #done = new Set<DeviceColumns>();
  #columns: DeviceColumns | null = null;
  #device: Device | null = null;
  #endMs = 0;

  /** The device's rows before `endMs` were read, and all rows of devices before it. */
  note(columns: DeviceColumns, device: Device, endMs: number): void {
    this.#columns = columns;
    this.#device = device;
    this.#endMs = endMs;
  }

  end(columns: DeviceColumns): void {
    this.#done.add(columns);
  }

  hasRead(columns: DeviceColumns, device: number, timestampMs: number): boolean {
    if (this.#done.has(columns)) return true;
    if (columns !== this.#columns) return false;
    const reading = this.#device!;
    if (device === reading.number) return timestampMs < this.#endMs;
    return columns.ids.compare(device, reading.id) < 0;
  }
}

interface DayPart extends TimeRange {
  readonly day: LedgerDay;
}

function timeOf({ chunk, row }: RowRef): number {
  return timestampAt(chunk, row);
}

/**
 * Whether a correction took a device's record of an instant away since the seal began, from any place of its app. The
 * record that was there is then newer than what another place knows as archived.
 */
function isAmongGone(
  places: readonly AppDevices[],
  days: readonly LedgerDay[],
  { id }: Device,
  timestampMs: number,
): boolean {
  if (places.length === 1) return false; // No correction hides or moves anything.
  const changed = days.find(({ startMs, endMs }) => timestampMs >= startMs && timestampMs < endMs)?.changed;
  return places.some(({ table }) => {
    const device = table.numberOf(id);
    return device !== NO_DEVICE && changed?.savedOf(table.columns, device, timestampMs)?.isGone === true;
  });
}

/**
 * The newest of a device's archived record and its rows of these days, as they were when the seal began; null if there
 * is none. Days come newest first.
 */
function newestArchived(app: AppDevices, device: Device, days: readonly LedgerDay[]): RowRef | null {
  const { archivedNewestMs } = device;
  for (const day of days) {
    if (day.endMs <= archivedNewestMs) break;
    const from = device.countBefore(day.startMs);
    for (let at = device.countBefore(day.endMs) - 1; at >= from; at--) {
      const { chunk, row } = device.recordAt(at);
      const timestampMs = timestampAt(chunk, row);
      if (timestampMs < archivedNewestMs) break;
      const before = rowBefore(day.changed, device, chunk, row);
      if (before === null) continue;
      // The archive may have more of it: of what is hidden, memory knows the newest record alone.
      const mayBePart = app.isHidden && timestampMs > archivedNewestMs && !isWholeInMemory(day);
      return mayBePart ? ownArchived(app, device) : before;
    }
  }
  return ownArchived(app, device);
}

function ownArchived(app: AppDevices, device: Device): RowRef | null {
  const { archivedNewestMs } = device;
  const hasOwn = archivedNewestMs > Number.NEGATIVE_INFINITY && !app.borrowed.has(device.number);
  return hasOwn ? app.archivedRows.at(device.number) : null;
}

/**
 * A row of a day that is being sealed as it was when the seal began; null if it did not exist, or if it is a row of a
 * correction or a copy of what another device reported.
 */
function rowBefore(
  changed: ChangedRecords | null,
  device: Device,
  chunk: Chunk,
  row: number,
): PickedRow | null {
  const { columns, number } = device;
  if (columns.corrected.has(number, timestampAt(chunk, row))) return null;
  if (columns.copies?.has(number, timestampAt(chunk, row)) === true) return null;
  const saved = changed?.savedOf(columns, number, timestampAt(chunk, row));
  if (saved === undefined) return wholeRow(device, chunk, row);
  // The fixes may lie elsewhere by now, if the record went and came back.
  if (saved !== null && saved.fixCount > 0 && columns.fixes.find(number, timestampAt(chunk, row)) === null)
    return { chunk: saved.chunk, row: 0, fixCount: 0 };
  return saved === null ? null : { chunk: saved.chunk, row: 0, fixCount: saved.fixCount };
}
