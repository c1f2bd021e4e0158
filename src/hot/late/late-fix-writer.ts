import { MOCK } from "../../model/fix.ts";
import { STATE_FIELDS } from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import type { DeviceColumns } from "../devices/device-columns.ts";
import { type Chunk, numberAt, stateAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import { isSealed, type LedgerDay } from "./day-ledger.ts";
import { FIX_CELLS, FIX_NUMBERS, type Fix, type FixList, MOCK_CELL, mayStandFor } from "./late-fixes.ts";

export interface LateInstant {
  readonly columns: DeviceColumns;
  readonly device: number;
  readonly timestampMs: number;
  readonly day: LedgerDay;
}

/** Whether the archive may have records of the day, or a running seal is about to give it some. */
export function liesOverArchive(day: LedgerDay): boolean {
  return isSealed(day) || day.changed !== null;
}

/** Stores the fixes of reports for archived records, as long as they can't be merged into one fix. */
export class LateFixWriter {
  readonly #dictionary: Dictionary;
  readonly #fix = new Float64Array(FIX_CELLS);
  readonly #storedFix = new Float64Array(FIX_CELLS);

  constructor(dictionary: Dictionary) {
    this.#dictionary = dictionary;
  }

  /**
   * Stores the fix of a report that is about to be merged into a record; `isSame` if the record stays as it is. Returns
   * whether anything changes: what memory shows, or what the archived record will become.
   */
  lay(
    { columns, device, timestampMs, day }: LateInstant,
    stored: RowRef,
    batch: ReportBatch,
    row: number,
    isSame: boolean,
  ): boolean {
    const fix = this.#fixOf(batch, row);
    const list = columns.fixes.find(device, timestampMs);
    const isKnown = this.#isKnown(list, stored, fix);
    if (isSame && isKnown) return false;
    const { changed } = day;
    const isFirst = changed !== null && changed.savedOf(columns, device, timestampMs) === undefined;
    if (isFirst) changed.save(columns, device, timestampMs, stored, this.#dictionary);
    const saved = changed?.savedOf(columns, device, timestampMs) ?? null;
    if (!isKnown && list !== null) list.add(fix, saved?.fixCount ?? 0);
    if (!isKnown && list === null) {
      const added = columns.fixes.create(device, timestampMs, day);
      added.add(this.#storedFix, 0);
      if (isFirst) saved!.fixCount = 1;
      added.add(fix, 1);
    }
    if (isFirst && day.isLeaving && saved!.fixCount > 0) {
      columns.fixes.find(device, timestampMs)!.removeFirst(saved!.fixCount);
      saved!.fixCount = 0;
    }
    return true;
  }

  /** Whether a report that leaves the record in memory as it is would also leave the stored fixes as they are. */
  repeats(
    { columns, device, timestampMs }: LateInstant,
    stored: RowRef,
    batch: ReportBatch,
    row: number,
  ): boolean {
    const fix = this.#fixOf(batch, row);
    return this.#isKnown(columns.fixes.find(device, timestampMs), stored, fix);
  }

  /** Whether the stored fixes (without a list: the record itself) already represent this fix. */
  #isKnown(list: FixList | null, { chunk, row }: RowRef, fix: Fix): boolean {
    if (list !== null) return list.repeats(fix);
    readFix(chunk, row, this.#dictionary.mockOf(stateAt(chunk, row)), this.#storedFix);
    return mayStandFor(this.#storedFix, fix);
  }

  #fixOf(batch: ReportBatch, row: number): Fix {
    FIX_NUMBERS.forEach((field, cell) => {
      this.#fix[cell] = batch.numbers[field]![row]!;
    });
    this.#fix[MOCK_CELL] = mockOf(batch, row);
    return this.#fix;
  }
}

function mockOf({ texts, states, state }: ReportBatch, row: number): number {
  const text = states[state[row]! * STATE_FIELDS.length + MOCK]!;
  if (text === NOT_CARRIED) return Number.NaN;
  return texts[text] === "true" ? 1 : 0;
}

function readFix(chunk: Chunk, row: number, mock: number, out: Fix): void {
  FIX_NUMBERS.forEach((field, cell) => {
    out[cell] = numberAt(chunk, row, field);
  });
  out[MOCK_CELL] = mock;
}
