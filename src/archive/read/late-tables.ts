import { nextTurn } from "../../lib/schedule/timers.ts";
import {
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  STATE_FIELDS,
  type StoredField,
} from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch, type RowBatch } from "../../model/report-batch.ts";
import { VALUE_COLUMNS } from "../columns.ts";
import type { Connection } from "../duckdb/database.ts";
import { type UpperRows, withDeciding } from "../overlay-sql.ts";
import type { OverlayRows } from "./archive-scan.ts";

// Late rows of memory as tables of DuckDB, which statements merge into archived records.

/** The temporary table of late rows of one connection. */
export const LATE_TABLE = "late";

interface TypedColumn {
  readonly name: string;
  readonly type: string;
}

const COLUMNS: readonly TypedColumn[] = [
  { name: "device_id", type: "VARCHAR" },
  { name: "timestamp", type: "BIGINT" },
  ...VALUE_COLUMNS,
];
const FIX_COLUMNS = [...COLUMNS, { name: "turn", type: "BIGINT" }];

// Rows come as one JSON text with an array per column, which DuckDB parses on its own threads. Filling DuckDB's chunks
// here would take the event loop five times as long, and the binding leaks some KB of memory per chunk.
const ROWS = rowsSql(COLUMNS);
const FIX_ROWS = rowsSql(FIX_COLUMNS);

function rowsSql(columns: readonly TypedColumn[]): string {
  const shape = JSON.stringify(Object.fromEntries(columns.map(({ name, type }) => [name, [type]])));
  return `SELECT ${columns.map(({ name }) => `unnest(rows.${name})`).join(", ")}
    FROM (SELECT from_json($rows, '${shape}') AS rows)`;
}

/** A table of late rows. */
export interface LateTableRows {
  readonly upper: UpperRows;
  /** Number of rows and of separate fixes. */
  readonly rows: number;
}

/**
 * Creates a table with these rows: their keys and those of `columns`, all others null. Each batch takes a few
 * milliseconds of the event loop.
 */
export async function createLateTable(
  connection: Connection,
  late: OverlayRows,
  columns: readonly string[],
  signal?: AbortSignal,
  table = LATE_TABLE,
): Promise<LateTableRows> {
  let upper = await createEmptyLateTable(connection, signal, table);
  let rows = 0;
  for (const batch of late.batches()) {
    signal?.throwIfAborted();
    if (batch.count === 0) await nextTurn();
    else upper = await addLateRows(connection, batch, columns, upper, signal);
    rows += batch.count + (batch.fixes?.count ?? 0);
  }
  return { upper, rows };
}

/**
 * Creates the table without rows, for `addLateRows()`. It is visible to all connections, unless its name is
 * `LATE_TABLE`.
 */
export async function createEmptyLateTable(
  connection: Connection,
  signal?: AbortSignal,
  table = LATE_TABLE,
): Promise<UpperRows> {
  await createTable(connection, table, COLUMNS, table === LATE_TABLE, signal);
  return { rows: table, fixes: null };
}

/** Adds rows. Returns the tables, since the first separate fixes create a table of fixes. */
export async function addLateRows(
  connection: Connection,
  batch: RowBatch,
  wanted: readonly string[],
  upper: UpperRows,
  signal?: AbortSignal,
): Promise<UpperRows> {
  const columns = withDeciding(wanted);
  const rows = JSON.stringify(columnsOf(batch, columns));
  await connection.run(`INSERT INTO ${upper.rows} ${ROWS}`, { rows }, signal);
  if (batch.fixes === null) return upper;
  const fixes = upper.fixes ?? fixTableOf(upper.rows);
  if (upper.fixes === null)
    await createTable(connection, fixes, FIX_COLUMNS, upper.rows === LATE_TABLE, signal);
  const fixRows = JSON.stringify({ ...columnsOf(batch.fixes, columns), turn: turnsOf(batch.fixes) });
  await connection.run(`INSERT INTO ${fixes} ${FIX_ROWS}`, { rows: fixRows }, signal);
  return { ...upper, fixes };
}

/** Drops the table and its table of fixes, if they exist. */
export async function dropLateTable(connection: Connection, table = LATE_TABLE): Promise<void> {
  await connection.run(`DROP TABLE IF EXISTS ${table}`);
  await connection.run(`DROP TABLE IF EXISTS ${fixTableOf(table)}`);
}

function fixTableOf(table: string): string {
  return `${table}_fixes`;
}

async function createTable(
  connection: Connection,
  table: string,
  columns: readonly TypedColumn[],
  isTemporary: boolean,
  signal?: AbortSignal,
): Promise<void> {
  const kind = isTemporary ? "TEMP TABLE" : "TABLE";
  const definition = columns.map(({ name, type }) => `${name} ${type}`).join(", ");
  await connection.run(`CREATE OR REPLACE ${kind} ${table} (${definition})`, undefined, signal);
}

/** The number of each fix among those of its instant, which are consecutive. */
function turnsOf({ device, timestampMs }: ReportBatch): number[] {
  const turns: number[] = [];
  for (let row = 0; row < device.length; row++) {
    const isSame = row > 0 && device[row] === device[row - 1] && timestampMs[row] === timestampMs[row - 1];
    turns.push(isSame ? turns[row - 1]! + 1 : 0);
  }
  return turns;
}

/** JSON encodes NaN, which stands for a missing number, as null. */
type Cell = string | number | boolean | null;

/** The rows in the form of `ROWS`. Columns that no row carries are omitted. */
function columnsOf(batch: ReportBatch, wanted: readonly string[]): Readonly<Record<string, Cell[]>> {
  const { count, device, timestampMs, texts } = batch;
  const columns: Record<string, Cell[]> = {
    device_id: cellsOf(count, (row) => texts[device[row]!]!)!,
    timestamp: cellsOf(count, (row) => timestampMs[row]!)!,
  };
  for (const { name, field } of VALUE_COLUMNS) {
    const cells = wanted.includes(name) ? cellsOf(count, cellReader(batch, field!)) : null;
    if (cells !== null) columns[name] = cells;
  }
  return columns;
}

/** The cells of a column; null if no row carries a value. */
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

/**
 * Tables of late rows that are reused: filling one takes as long as reading a page, and the same page and its
 * neighbours are often read next. A table is valid while the version of its rows is the same. If a report comes in
 * while a table is filled, only the query that fills it uses it.
 */
export interface LateTables {
  /**
   * Runs `work` while these late rows are in a table, with their keys and at least those columns. Rejects if the signal
   * aborts before.
   */
  over<Value>(
    by: { readonly connection: Connection; readonly signal: AbortSignal },
    late: OverlayRows,
    columns: readonly string[],
    work: (upper: UpperRows) => AsyncIterable<Value>,
  ): AsyncIterable<Value>;
}

interface LateTable {
  readonly name: string;
  /** The tables for statements; null until they are filled. */
  upper: UpperRows | null;
  /** The version of its rows; null while it is filled, and if it is not known. */
  version: string | null;
  columns: ReadonlySet<string>;
  rows: number;
  users: number;
}

/** Some 300 bytes each, of DuckDB's memory. A query needs 16,384 at a time at most. */
const CACHED_ROWS_MAX = 131_072;
/** Each connection also keeps statements for each table. */
const CACHED_TABLES_MAX = 12;

export function createLateTables(cachedRowsMax = CACHED_ROWS_MAX): LateTables {
  const tables: LateTable[] = []; // The least recently used one comes first.
  const names: string[] = []; // Names of dropped tables, for which statements are prepared.
  let nameCount = 0;

  function find(version: string | null, columns: readonly string[]): LateTable | null {
    if (version === null) return null;
    const isFit = (table: LateTable) =>
      table.version === version && columns.every((name) => table.columns.has(name));
    return tables.find(isFit) ?? null;
  }

  /** A table to fill: an unused one, or a new one. */
  function free(): LateTable {
    const unused = tables.filter(({ users }) => users === 0);
    const isReused = unused.length > 0 && tables.length >= CACHED_TABLES_MAX;
    return isReused
      ? unused[0]!
      : {
          name: names.pop() ?? `late_${++nameCount}`,
          upper: null,
          version: null,
          columns: new Set(),
          rows: 0,
          users: 0,
        };
  }

  function touch(table: LateTable): void {
    const at = tables.indexOf(table);
    if (at !== -1) tables.splice(at, 1);
    tables.push(table);
  }

  /** The oldest unused table that can't be reused, or any unused one if there are too many rows. */
  function findUnneeded(): LateTable | null {
    const isFull = tables.reduce((rows, table) => rows + table.rows, 0) > cachedRowsMax;
    return tables.find(({ users, version }) => users === 0 && (isFull || version === null)) ?? null;
  }

  async function tidy(connection: Connection): Promise<void> {
    for (let table = findUnneeded(); table !== null; table = findUnneeded()) {
      tables.splice(tables.indexOf(table), 1); // Before the await, since other queries tidy up meanwhile.
      try {
        await dropLateTable(connection, table.name);
      } finally {
        names.push(table.name); // If it still exists, the next table of this name replaces it.
      }
    }
  }

  async function fill(
    table: LateTable,
    { connection, signal }: { readonly connection: Connection; readonly signal: AbortSignal },
    late: OverlayRows,
    columns: readonly string[],
  ): Promise<void> {
    const version = late.version?.() ?? null; // Read first: rows that come in meanwhile may or may not be included.
    Object.assign(table, { upper: null, version: null, columns: new Set(columns), rows: 0 });
    Object.assign(table, await createLateTable(connection, late, columns, signal, table.name));
    table.version = version;
  }

  return {
    async *over(by, late, columns, work) {
      const cached = find(late.version?.() ?? null, columns);
      const table = cached ?? free();
      table.users++;
      touch(table);
      try {
        if (cached === null) await fill(table, by, late, columns);
        yield* work(table.upper!);
      } finally {
        table.users--;
        await tidy(by.connection);
      }
    },
  };
}
