import { assert } from "../../lib/assert.ts";
import { nextTurn } from "../../lib/schedule/timers.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { RowBatch } from "../../model/report-batch.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Device } from "../devices/device.ts";
import { type Chunk, rowBytes, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import { type DayLedger, type LedgerDay, lateVersion } from "./day-ledger.ts";
import { daysOf, type LateSource } from "./late-sources.ts";
import { type PickedRow, RowCollector, wholeRow } from "./row-collector.ts";

/** Rows of a batch: a millisecond to collect, and some to write as text. */
const ROWS_A_BATCH = 2048;
const LOOKS_A_STEP = 4096;

/** Whether memory has rows of a sealed day that are not archived. */
export function holdsLate({ count, correctedCount, isLeaving, changed }: LedgerDay): boolean {
  return isLeaving ? changed!.count + correctedCount > 0 : count > 0;
}

/** A range of sealed days with its late rows. */
export interface LateWindow {
  readonly range: TimeRange;
  /** Null if there are none. */
  readonly late: LateRows | null;
}

/** The late rows of a range, to be merged into archived rows. */
export interface LateRows {
  /** Days that may have late rows, sorted. */
  readonly days: readonly UtcDay[];
  /** The rows, in batches that each take a short step of work. Rows that come in meanwhile may be included. */
  batches(): Iterable<RowBatch>;
  /** Differs whenever the rows may have changed. Undefined if that is not known. */
  version?(): string;
}

/**
 * Reads late rows of an app, a device or some keys, one window of time at a time: there may be millions of rows, and
 * most queries need few.
 */
export class LateScan {
  /** Bytes of late rows that were read so far. */
  bytesRead = 0;
  readonly #source: LateSource;
  readonly #ledger: DayLedger;
  readonly #dictionary: Dictionary;
  readonly #name: string | null;
  readonly #originals: boolean;
  readonly #idOf: (device: Device) => DeviceId;

  /**
   * `name` is unique to the source; null if the rows need no version. `originals` excludes rows of corrections. `idOf`
   * gives the id under which rows of a device are read.
   */
  constructor(
    source: LateSource,
    ledger: DayLedger,
    dictionary: Dictionary,
    name: string | null,
    originals = false,
    idOf = ({ id }: Device) => id,
  ) {
    this.#idOf = idOf;
    this.#originals = originals;
    this.#source = source;
    this.#ledger = ledger;
    this.#dictionary = dictionary;
    this.#name = name;
  }

  /**
   * The first window of a range of sealed days in the given order: either one without late rows, or one with about
   * `rowsMax` rows at most, or more if they share a millisecond. It has the time before its rows, too, if it
   * `keepsGaps`.
   */
  async window(range: TimeRange, order: Order, rowsMax: number, keepsGaps = false): Promise<LateWindow> {
    const gapMs = keepsGaps ? Number.POSITIVE_INFINITY : MS_PER_MINUTE;
    const { range: first, isEmpty } = await this.#source.cut(range, order, rowsMax, gapMs);
    const isFirst = order === "asc" ? first.startMs === range.startMs : first.endMs === range.endMs;
    assert(isFirst && first.startMs < first.endMs, "a window is the first of its range, and not empty");
    return { range: first, late: isEmpty ? null : this.#lateRows(first) };
  }

  /** The late rows of a whole range of sealed days; null if there are none. */
  async whole(range: TimeRange): Promise<LateRows | null> {
    await this.#source.know(range);
    const rows = this.#lateRows(range);
    return rows.days.length === 0 ? null : rows;
  }

  /** Adds the devices with a record in memory in a range of sealed days. */
  async addDevices(range: TimeRange, devices: Set<DeviceId>): Promise<void> {
    await this.#source.know(range);
    let looks = 0;
    for (const { device, startMs, endMs } of this.#source.deviceRanges(range)) {
      if (device.countBefore(startMs) < device.countBefore(endMs)) devices.add(device.id);
      if (++looks % LOOKS_A_STEP === 0) await nextTurn();
    }
  }

  #lateRows(range: TimeRange): LateRows {
    const rows = { days: this.#source.days(range), batches: () => this.#batches(range) };
    const name = this.#name;
    if (name === null) return rows;
    const version = () => daysOf(range).map((day) => lateVersion(this.#ledger.of(day)));
    return { ...rows, version: () => [name, range.startMs, range.endMs, ...version()].join(" ") };
  }

  *#batches(range: TimeRange): Iterable<RowBatch> {
    let collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
    let looks = 0;
    for (const { device, startMs, endMs } of this.#source.deviceRanges(range)) {
      // A report may come in between two batches, so the rows of the track are located by time again.
      const pick = (chunk: Chunk, row: number) => this.#pick(device, chunk, row);
      const id = this.#idOf(device);
      for (let fromMs = startMs; fromMs < endMs; ) {
        fromMs = collector.addRows(device, fromMs, endMs, pick, id);
        if (++looks < LOOKS_A_STEP && !collector.isFull) continue;
        yield collector.build();
        collector = new RowCollector(ROWS_A_BATCH, this.#dictionary);
        looks = 0;
      }
    }
    if (collector.count > 0) yield collector.build();
  }

  /** Null for a row of a day that is leaving memory, if the row is archived unchanged. */
  #pick(device: Device, chunk: Chunk, row: number): PickedRow | null {
    this.bytesRead += rowBytes(chunk);
    const timestampMs = timestampAt(chunk, row);
    const { isLeaving, changed } = this.#ledger.at(timestampMs);
    const isCorrected = device.columns.corrected.has(device.number, timestampMs);
    const isCopy = this.#originals && device.columns.copies?.has(device.number, timestampMs) === true;
    const stays = isCorrected
      ? !this.#originals
      : !isCopy && (!isLeaving || changed!.has(device, timestampMs));
    return stays ? wholeRow(device, chunk, row) : null;
  }
}
