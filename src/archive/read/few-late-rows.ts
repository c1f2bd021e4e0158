import { nextTurn } from "../../lib/schedule/timers.ts";
import { countBefore } from "../../lib/tables/sorted-numbers.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import { FieldChoice } from "../../model/field-choice.ts";
import type { DeviceId } from "../../model/ids.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { RowBatch } from "../../model/report-batch.ts";
import type { Order, TimeRange } from "../../model/time/range.ts";
import type { Rows } from "../duckdb/database.ts";
import { type ArchiveScan, hasAliases, type OverlayRows } from "./archive-scan.ts";
import { layOver, type RecordValues, valuesOf } from "./lay-over.ts";
import {
  DEVICE_COLUMN,
  FIRST_NUMBER_COLUMN,
  PROFILE_COLUMN,
  STATE_COLUMN,
  TIME_COLUMN,
} from "./record-rows.ts";

// Few late rows, which are merged into the rows of a plain statement here: a statement that merges them would need them
// in a table first, would take three times as long, and could not stop at the page's end.

/** About two milliseconds of the event loop. */
export const FEW_ROWS_MAX = 2048;

interface LateRow {
  readonly deviceId: DeviceId;
  readonly timestampMs: number;
  readonly batch: RowBatch;
  readonly row: number;
  /** Its rows of `batch.fixes`; null if it has none. */
  readonly fixes: readonly number[] | null;
}

/** Whether the rows of plain statements can have a scan's late rows merged in, if those are few. */
export function canMergeRows(scan: MergedScan): boolean {
  const { userId, accuracyMetersMax, hidden = null } = scan;
  // A filter may exclude an archived record, or include it, only because of the late row over it.
  const isFiltered = userId !== null || accuracyMetersMax !== null;
  return !isFiltered && !hasAliases(scan) && (hidden === null || hidden.timesOf !== undefined);
}

type MergedScan = Pick<ArchiveScan, "aliases" | "userId" | "accuracyMetersMax" | "hidden">;

/** The scan with the fields that decide between the fix of a record and that of a late row. */
export function showingFixes(scan: ArchiveScan): ArchiveScan {
  const { fields } = scan;
  if (fields === undefined) return scan;
  const deciding = ["latitude", "longitude", "horizontal_accuracy"];
  return { ...scan, fields: new FieldChoice(fields.kind, [...fields.names, ...deciding]) };
}

/** Reads late rows; null if they are many. */
export async function readFewLateRows(late: OverlayRows): Promise<FewLateRows | null> {
  const rows: LateRow[] = [];
  for (const batch of late.batches()) {
    if (batch.count === 0) await nextTurn();
    if (rows.length + batch.count + (batch.fixes?.count ?? 0) > FEW_ROWS_MAX) return null;
    const fixes = batch.fixes === null ? null : rowsByKey(batch.fixes);
    for (let row = 0; row < batch.count; row++) {
      const deviceId = batch.texts[batch.device[row]!]! as DeviceId;
      const timestampMs = batch.timestampMs[row]!;
      rows.push({
        deviceId,
        timestampMs,
        batch,
        row,
        fixes: fixes?.get(keyOf(deviceId, timestampMs)) ?? null,
      });
    }
  }
  return new FewLateRows(rows.sort(compareKeys));
}

/** In order of time, then device. */
export class FewLateRows {
  static readonly NONE = new FewLateRows([]);

  readonly #rows: readonly LateRow[];
  readonly times: Float64Array;

  constructor(rows: readonly LateRow[]) {
    this.#rows = rows;
    this.times = Float64Array.from(rows, ({ timestampMs }) => timestampMs);
  }

  get count(): number {
    return this.#rows.length;
  }

  within({ startMs, endMs }: TimeRange): FewLateRows {
    return new FewLateRows(
      this.#rows.slice(countBefore(this.times, startMs), countBefore(this.times, endMs)),
    );
  }

  merger(order: Order, deviceId: DeviceId | null): LateMerger {
    return new LateMerger(order === "asc" ? this.#rows : this.#rows.toReversed(), order, deviceId);
  }
}

/** Merges late rows into rows of `recordsStatement()` that come in order. */
class LateMerger {
  readonly #late: readonly LateRow[];
  readonly #order: Order;
  readonly #deviceId: DeviceId | null;
  #next = 0;

  constructor(late: readonly LateRow[], order: Order, deviceId: DeviceId | null) {
    this.#late = late;
    this.#order = order;
    this.#deviceId = deviceId;
  }

  /**
   * Some visible rows of a statement with the late rows up to the last row that was `read`, whether that is visible or
   * not.
   */
  merge(visible: Rows, read: Rows): Rows {
    if (read.count === 0 || this.#next === this.#late.length) return visible;
    const end = keysOf(read, this.#deviceId).at(read.count - 1);
    const from = this.#next;
    while (this.#next < this.#late.length && this.#compare(this.#late[this.#next]!, end) <= 0) this.#next++;
    return this.#merged(visible, this.#late.slice(from, this.#next));
  }

  /** The late rows behind all that were read. */
  rest(): Rows {
    return this.#merged(NO_ROWS, this.#late.slice(this.#next));
  }

  #compare(a: RecordKey, b: RecordKey): number {
    return this.#order === "asc" ? compareKeys(a, b) : compareKeys(b, a);
  }

  #merged(rows: Rows, late: readonly LateRow[]): Rows {
    if (late.length === 0) return rows;
    const keys = keysOf(rows, this.#deviceId);
    const archived = new ArchivedValues(rows);
    const merged = new MergedRows(rows);
    let next = 0;
    for (const row of late) {
      while (next < rows.count && this.#compare(keys.at(next), row) < 0) merged.add(next++);
      const isOver = next < rows.count && this.#compare(keys.at(next), row) === 0;
      const { batch, fixes } = row;
      const values = isOver
        ? layOver(
            archived.at(next++),
            batch,
            row.row,
            fixes === null ? null : { batch: batch.fixes!, rows: fixes },
          )
        : valuesOf(batch, row.row);
      merged.addLate(row, values);
    }
    while (next < rows.count) merged.add(next++);
    return merged;
  }
}

interface RecordKey {
  readonly deviceId: DeviceId;
  readonly timestampMs: number;
}

function compareKeys(a: RecordKey, b: RecordKey): number {
  return (
    a.timestampMs - b.timestampMs || (a.deviceId === b.deviceId ? 0 : compareUtf8(a.deviceId, b.deviceId))
  );
}

function keyOf(deviceId: string, timestampMs: number): string {
  return `${timestampMs} ${deviceId}`;
}

function rowsByKey({
  count,
  texts,
  device,
  timestampMs,
}: NonNullable<RowBatch["fixes"]>): Map<string, number[]> {
  const rows = new Map<string, number[]>();
  for (let row = 0; row < count; row++) {
    const key = keyOf(texts[device[row]!]!, timestampMs[row]!);
    const known = rows.get(key);
    if (known === undefined) rows.set(key, [row]);
    else known.push(row);
  }
  return rows;
}

function keysOf(rows: Rows, deviceId: DeviceId | null): { at(row: number): RecordKey } {
  const times = rows.numbers(TIME_COLUMN);
  const deviceIds = deviceId === null ? (rows.texts(DEVICE_COLUMN) as DeviceId[]) : null;
  return { at: (row) => ({ deviceId: deviceId ?? deviceIds![row]!, timestampMs: times[row]! }) };
}

/** Copies the values of archived records, of which few are needed. */
class ArchivedValues {
  readonly #rows: Rows;
  #columns: {
    readonly numbers: Float64Array[];
    readonly profile: string[];
    readonly state: string[];
  } | null = null;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  at(row: number): RecordValues {
    this.#columns ??= {
      numbers: NUMBER_FIELDS.map((_field, index) => this.#rows.numbers(FIRST_NUMBER_COLUMN + index)),
      profile: this.#rows.texts(PROFILE_COLUMN) as string[],
      state: this.#rows.texts(STATE_COLUMN) as string[],
    };
    const { numbers, profile, state } = this.#columns;
    return {
      numbers: Float64Array.from(numbers, (column) => column[row]!),
      profile: JSON.parse(profile[row]!) as (string | null)[],
      state: JSON.parse(state[row]!) as (string | null)[],
    };
  }
}

/** Rows of `recordsStatement()` among which some are late rows. */
class MergedRows implements Rows {
  readonly #archived: Rows;
  /** By row, the row of `#archived`, or that of `#late` as a negative number, -1 for the first. */
  readonly #at: number[] = [];
  readonly #late: { readonly key: RecordKey; readonly values: RecordValues }[] = [];

  constructor(archived: Rows) {
    this.#archived = archived;
  }

  add(row: number): void {
    this.#at.push(row);
  }

  addLate(key: RecordKey, values: RecordValues): void {
    this.#late.push({ key, values });
    this.#at.push(-this.#late.length);
  }

  get count(): number {
    return this.#at.length;
  }

  numbers(column: number): Float64Array {
    const archived = this.#archived.numbers(column);
    const field = column - FIRST_NUMBER_COLUMN;
    const late = this.#late.map(({ key, values }) =>
      column === TIME_COLUMN ? key.timestampMs : values.numbers[field]!,
    );
    return Float64Array.from(this.#at, (at) => (at < 0 ? late[-at - 1]! : archived[at]!));
  }

  texts(column: number): (string | null)[] {
    const archived = this.#archived.texts(column);
    const late = this.#late.map(({ key, values }) => {
      if (column === DEVICE_COLUMN) return key.deviceId;
      return JSON.stringify(column === PROFILE_COLUMN ? values.profile : values.state);
    });
    return this.#at.map((at) => (at < 0 ? late[-at - 1]! : archived[at]!));
  }

  tuples(): never {
    throw new Error("rows of a page have no tuples");
  }

  booleans(): never {
    throw new Error("rows of a page have no booleans");
  }
}

export const NO_ROWS: Rows = {
  count: 0,
  numbers: () => new Float64Array(0),
  texts: () => [],
  tuples: () => [],
  booleans: () => [],
};
