import { assert } from "../lib/assert.ts";
import type { AppId } from "../model/ids.ts";
import { createReportBatchBuilder, type RowBatch } from "../model/report-batch.ts";
import type { TimeRange } from "../model/time/range.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import type { AppDevices } from "./app-devices.ts";
import type { Apps } from "./apps.ts";
import type { Device } from "./devices/device.ts";
import { ChangedRecords } from "./late/changed-records.ts";
import { type DayLedger, isSealed, type LedgerDay } from "./late/day-ledger.ts";
import { type PickedRow, RowCollector, wholeRow } from "./late/row-collector.ts";
import { type Chunk, profileAt, stateAt, timestampAt } from "./records/chunk.ts";
import type { Dictionary } from "./records/dictionary.ts";
import type { RowRef } from "./records/long-track.ts";
import { ReportCollector } from "./scan/report-collector.ts";

/** Records of one app, in order of device ids (UTF-8 bytes) and time. An empty batch only gives other work a turn. */
export interface AppRows {
  readonly appId: AppId;
  readonly batch: RowBatch;
}

/** Rows of a batch, a fraction of a millisecond of work. Requests are answered between two batches. */
const ROWS_A_BATCH = 1024;
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
  /** The newest day first. */
  #days: readonly LedgerDay[];
  #step: "reading" | "dropping" | "over" = "reading";

  constructor(
    apps: Apps,
    ledger: DayLedger,
    dictionary: Dictionary,
    days: readonly UtcDay[],
    sequence: number,
  ) {
    this.sequence = sequence;
    this.#apps = apps;
    this.#ledger = ledger;
    this.#dictionary = dictionary;
    this.#days = [...days].sort((a, b) => b - a).map((day) => ledger.of(day));
    for (const day of this.#days) {
      assert(day.changed === null, "only one seal of a day runs at a time");
      day.changed = new ChangedRecords();
    }
  }

  /** All records of a day, by app (UTF-8 bytes). The caller may answer requests between two batches. */
  *rows(day: UtcDay): Iterable<AppRows> {
    assert(this.#step === "reading", "rows are read before they are dropped");
    const { startMs, endMs, changed } = this.#ledger.of(day);
    for (const app of this.#apps.inOrder()) {
      let collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
      let looks = 0;
      for (const device of app.list.devices()) {
        if (device === null) {
          yield { appId: app.appId, batch: NO_RECORDS };
          continue;
        }
        if (++looks % LOOKS_A_STEP === 0) yield { appId: app.appId, batch: NO_RECORDS };
        const pick = (chunk: Chunk, row: number) => rowBefore(changed, device, chunk, row);
        // A report may come in between two batches, so the rows of the track are located by time again.
        for (let fromMs = startMs; fromMs < endMs; ) {
          fromMs = collector.addRows(device, fromMs, endMs, pick);
          if (!collector.isFull) continue;
          yield { appId: app.appId, batch: collector.build() };
          collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
        }
      }
      if (collector.count > 0) yield { appId: app.appId, batch: collector.build() };
    }
  }

  /**
   * The newest record of each device among those archived and those of the days in `moving`, unless it is older than
   * `oldestMs`.
   */
  *newest(oldestMs: number, moving: ReadonlySet<UtcDay>): Iterable<AppRows> {
    const days = this.#days.filter(({ day }) => moving.has(day));
    for (const app of this.#apps.inOrder()) {
      let collector = new ReportCollector(ROWS_A_BATCH, this.#dictionary);
      for (const device of app.list.devices()) {
        if (device === null) {
          yield { appId: app.appId, batch: NO_RECORDS };
          continue;
        }
        const newest = newestArchived(app, device, days);
        if (newest !== null && timeOf(newest) >= oldestMs) collector.add(device.id, newest.chunk, newest.row);
        if (!collector.isFull) continue;
        yield { appId: app.appId, batch: { ...collector.build(), fixes: null } };
        collector = new ReportCollector(ROWS_A_BATCH, this.#dictionary);
      }
      if (collector.count > 0) yield { appId: app.appId, batch: { ...collector.build(), fixes: null } };
    }
  }

  /**
   * Call once the archive has the days of `moved`, of which memory drops the rows. `sequences` has all archived days.
   * Other days of this seal stay in memory.
   */
  commit(moved: ReadonlySet<UtcDay>, sequences: ReadonlyMap<UtcDay, number>): void {
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
      day.changed!.removeSavedFixes();
    }
    this.#days = this.#days.filter(({ isLeaving }) => isLeaving);
    assert(this.#days.length === moved.size, "days that moved are among those that were read");
    this.#ledger.setSealed(sequences);
  }

  /** Frees the memory of the days that moved, in steps. */
  *drop(): Iterable<void> {
    assert(this.#step === "dropping", "rows are dropped once they are archived");
    let looks = 0;
    for (const app of this.#apps.inOrder()) {
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
          this.#dictionary.collect();
          yield;
        }
      }
      for (const { day } of this.#days) {
        app.lateMinutes.forget(day);
        app.times.forget(day);
      }
    }
    this.#dictionary.collect();
    for (const day of this.#days) {
      assert(day.count === day.changed?.count, "of a sealed day, only records that changed meanwhile stay");
      day.isLeaving = false;
      day.changed!.release(this.#dictionary);
      day.changed = null;
    }
    this.#dictionary.collect();
    assert(
      this.#ledger.recordCount === this.#apps.recordCount,
      "a record is counted by its day and by its app",
    );
    this.#step = "over";
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
    }
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
    device.runs(from, to, (chunk, rowFrom, rowTo) => {
      for (let row = rowFrom; row < rowTo; row++) {
        if (changed.has(device, timestampAt(chunk, row))) continue;
        device.columns.fixes.remove(device.number, timestampAt(chunk, row));
        const profile = profileAt(chunk, row);
        app.users.discountRecord(device.number, this.#dictionary.userOf(profile));
        this.#dictionary.release(profile, stateAt(chunk, row));
        app.recordCount--;
        day.count--;
      }
    });
    device.columns.tracks.remove(device.number, part, (timestampMs) => changed.has(device, timestampMs));
    return to - from;
  }
}

interface DayPart extends TimeRange {
  readonly day: LedgerDay;
}

function timeOf({ chunk, row }: RowRef): number {
  return timestampAt(chunk, row);
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
      if (timestampAt(chunk, row) < archivedNewestMs) break;
      const before = rowBefore(day.changed, device, chunk, row);
      if (before !== null) return before;
    }
  }
  return archivedNewestMs === Number.NEGATIVE_INFINITY ? null : app.archivedRows.at(device.number);
}

/** A row of a day that is being sealed as it was when the seal began; null if it did not exist. */
function rowBefore(
  changed: ChangedRecords | null,
  device: Device,
  chunk: Chunk,
  row: number,
): PickedRow | null {
  const { columns, number } = device;
  const saved = changed?.savedOf(columns, number, timestampAt(chunk, row));
  if (saved === undefined) return wholeRow(device, chunk, row);
  return saved === null ? null : { chunk: saved.chunk, row: 0, fixCount: saved.fixCount };
}
