import type { Connection } from "../../duckdb/database.ts";
import { nextTurn } from "../../lib/schedule/next-turn.ts";
import {
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import type { UtcDay } from "../../time/utc-day.ts";
import { VALUE_COLUMNS } from "../columns.ts";

/** Rows of memory that lie over archived records. */
export interface LateRows {
  /** Days that may have any, in order. */
  readonly days: readonly UtcDay[];
  /** All of them, a few thousand at a time. */
  batches(): Iterable<ReportBatch>;
  /**
   * Which rows these are, of all that may be late, and as of when: another text whenever `batches` may give others than
   * before, as long as the process runs. Left out where nobody can tell.
   */
  version?(): string;
}

/** The temporary table that a connection has late rows in while its statements lay them over archived records. */
export const LATE_TABLE = "late";

const COLUMNS = [
  { name: "device_id", type: "VARCHAR" },
  { name: "timestamp", type: "BIGINT" },
  ...VALUE_COLUMNS,
];
const DEFINITION = COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ");

/*
 * Rows come as one JSON text, an array for each column, which DuckDB reads on its own threads. Chunks of its own that
 * are filled here keep the event loop five times as long, and of each the binding loses some KB of memory.
 */
const SHAPE = JSON.stringify(Object.fromEntries(COLUMNS.map(({ name, type }) => [name, [type]])));
const ROWS = `SELECT ${COLUMNS.map(({ name }) => `unnest(rows.${name})`).join(", ")}
  FROM (SELECT from_json($rows, '${SHAPE}') AS rows)`;

/**
 * Gives the connection these rows as a table, with their keys and those of `columns` that statements look at; the
 * others stay null. Resolves with how many there are. A batch is a few milliseconds of the event loop.
 */
export async function createLateTable(
  connection: Connection,
  late: LateRows,
  columns: readonly string[],
  signal?: AbortSignal,
  table = LATE_TABLE,
): Promise<number> {
  await createEmptyLateTable(connection, signal, table);
  let rows = 0;
  for (const batch of late.batches()) {
    signal?.throwIfAborted();
    if (batch.count === 0) await nextTurn();
    else await addLateRows(connection, batch, columns, signal, table);
    rows += batch.count;
  }
  return rows;
}

/** The same for rows that come one batch after the other. Other connections see a table of another name, too. */
export async function createEmptyLateTable(
  connection: Connection,
  signal?: AbortSignal,
  table = LATE_TABLE,
): Promise<void> {
  const kind = table === LATE_TABLE ? "TEMP TABLE" : "TABLE";
  await connection.run(`CREATE OR REPLACE ${kind} ${table} (${DEFINITION})`, undefined, signal);
}

export async function addLateRows(
  connection: Connection,
  batch: ReportBatch,
  columns: readonly string[],
  signal?: AbortSignal,
  table = LATE_TABLE,
): Promise<void> {
  await connection.run(`INSERT INTO ${table} ${ROWS}`, { rows: textOf(batch, columns) }, signal);
}

/** Takes it away, where it is there. */
export async function dropLateTable(connection: Connection, table = LATE_TABLE): Promise<void> {
  await connection.run(`DROP TABLE IF EXISTS ${table}`);
}

/** JSON writes NaN, which stands for no number, as null. */
type Cell = string | number | boolean | null;

/** The rows as `INSERT` takes them. A column that no row carries is left out. */
function textOf(batch: ReportBatch, wanted: readonly string[]): string {
  const { count, device, timestampMs, texts } = batch;
  const columns: Record<string, Cell[]> = {
    device_id: cellsOf(count, (row) => texts[device[row]!]!)!,
    timestamp: cellsOf(count, (row) => timestampMs[row]!)!,
  };
  for (const { name, field } of VALUE_COLUMNS) {
    const cells = wanted.includes(name) ? cellsOf(count, cellReader(batch, field!)) : null;
    if (cells !== null) columns[name] = cells;
  }
  return JSON.stringify(columns);
}

/** The cells of a column; null where no row carries any. */
function cellsOf(count: number, cellOf: (row: number) => Cell): Cell[] | null {
  const cells = new Array<Cell>(count);
  let isCarried = false;
  for (let row = 0; row < count; row++) {
    const cell = cellOf(row);
    cells[row] = cell;
    isCarried ||= cell !== null && !Number.isNaN(cell);
  }
  return isCarried ? cells : null;
}

function cellReader(batch: ReportBatch, field: StoredField): (row: number) => Cell {
  const { texts, numbers, profiles, profile, states, state } = batch;
  if (field.column === "number") {
    const column = numbers[NUMBER_FIELDS.indexOf(field)]!;
    return (row) => column[row]!;
  }
  const isProfile = field.column === "profile";
  const fields = isProfile ? PROFILE_FIELDS : STATE_FIELDS;
  const [tuples, tuple] = isProfile ? [profiles, profile] : [states, state];
  const member = fields.indexOf(field);
  return (row) => {
    const text = tuples[tuple[row]! * fields.length + member]!;
    if (text === NOT_CARRIED) return null;
    return field.type === "boolean" ? texts[text] === "true" : texts[text]!;
  };
}
