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
import type { LateRows } from "./archive-scan.ts";

/*
 * Late rows of memory as tables of DuckDB, which statements lay over archived records.
 */

/** The temporary table that a connection has late rows in while its statements lay them over archived records. */
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

/*
 * Rows come as one JSON text, an array for each column, which DuckDB reads on its own threads. Chunks of its own that
 * are filled here keep the event loop five times as long, and of each the binding loses some KB of memory.
 */
const ROWS = rowsSql(COLUMNS);
const FIX_ROWS = rowsSql(FIX_COLUMNS);

function rowsSql(columns: readonly TypedColumn[]): string {
  const shape = JSON.stringify(Object.fromEntries(columns.map(({ name, type }) => [name, [type]])));
  return `SELECT ${columns.map(({ name }) => `unnest(rows.${name})`).join(", ")}
    FROM (SELECT from_json($rows, '${shape}') AS rows)`;
}

/** What a table of late rows holds. */
export interface LateTableRows {
  readonly upper: UpperRows;
  /** All there are, with the fixes beside them. */
  readonly rows: number;
}

/**
 * Gives the connection these rows as a table, with their keys and those of `columns` that statements look at; the
 * others stay null. A batch is a few milliseconds of the event loop.
 */
export async function createLateTable(
  connection: Connection,
  late: LateRows,
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

/** Creates the table without rows, for `addLateRows`. All connections see it unless its name is `LATE_TABLE`. */
export async function createEmptyLateTable(
  connection: Connection,
  signal?: AbortSignal,
  table = LATE_TABLE,
): Promise<UpperRows> {
  await createTable(connection, table, COLUMNS, table === LATE_TABLE, signal);
  return { rows: table, fixes: null };
}

/** Returns the tables as they are now: the one of fixes is made when there are any. */
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

/** Drops the table and that of its fixes, if they are there. */
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

/** The place of each fix among those of its instant, which follow each other. */
function turnsOf({ device, timestampMs }: ReportBatch): number[] {
  const turns: number[] = [];
  for (let row = 0; row < device.length; row++) {
    const goesOn = row > 0 && device[row] === device[row - 1] && timestampMs[row] === timestampMs[row - 1];
    turns.push(goesOn ? turns[row - 1]! + 1 : 0);
  }
  return turns;
}

/** JSON writes NaN, which stands for no number, as null. */
type Cell = string | number | boolean | null;

/** The rows as `INSERT` takes them. A column that no row carries is left out. */
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

/** The cells of a column; null if no row carries any. */
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
 * Tables of late rows that outlive the question they were made for: to copy rows into one takes as long as to read a
 * page, and the same page and those around it are asked for again. A table is used again as long as the rows are what
 * they were, by their version; a report that comes in while a table is filled leaves it to the one question.
 */
export interface LateTables {
  /**
   * Does the work while these late rows are in a table, their keys and those columns at least. Rejects if the signal
   * comes first.
   */
  over<Value>(
    by: { readonly connection: Connection; readonly signal: AbortSignal },
    late: LateRows,
    columns: readonly string[],
    work: (upper: UpperRows) => AsyncIterable<Value>,
  ): AsyncIterable<Value>;
}

interface LateTable {
  readonly name: string;
  /** What of it statements read; null until it is filled. */
  upper: UpperRows | null;
  /** What it holds, as of when; null while it is filled, and if that can't be told. */
  version: string | null;
  columns: ReadonlySet<string>;
  rows: number;
  users: number;
}

/** Some 300 bytes each, of the memory that DuckDB has. One question needs 16,384 at a time, at most. */
const KEPT_ROWS_MAX = 131_072;
/** Statements over each are kept ready by each connection, too. */
const KEPT_TABLES_MAX = 12;

export function createLateTables(keptRowsMax = KEPT_ROWS_MAX): LateTables {
  const tables: LateTable[] = []; // The one that was used longest ago comes first.
  const names: string[] = []; // Of tables that are gone: statements over them are ready.
  let made = 0;

  function find(version: string | null, columns: readonly string[]): LateTable | null {
    if (version === null) return null;
    const isFit = (table: LateTable) =>
      table.version === version && columns.every((name) => table.columns.has(name));
    return tables.find(isFit) ?? null;
  }

  /** One whose name can be used anew, or a new one. */
  function free(): LateTable {
    const unused = tables.filter(({ users }) => users === 0);
    const isMade = unused.length > 0 && tables.length >= KEPT_TABLES_MAX;
    return isMade
      ? unused[0]!
      : {
          name: names.pop() ?? `late_${++made}`,
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

  /** The oldest unused table, if it can't be used again or there are too many rows. */
  function findUnneeded(): LateTable | null {
    const isFull = tables.reduce((rows, table) => rows + table.rows, 0) > keptRowsMax;
    return tables.find(({ users, version }) => users === 0 && (isFull || version === null)) ?? null;
  }

  async function tidy(connection: Connection): Promise<void> {
    for (let table = findUnneeded(); table !== null; table = findUnneeded()) {
      tables.splice(tables.indexOf(table), 1); // At once: others tidy meanwhile.
      try {
        await dropLateTable(connection, table.name);
      } finally {
        names.push(table.name); // If it is still there, the next table takes its place.
      }
    }
  }

  async function fill(
    table: LateTable,
    { connection, signal }: { readonly connection: Connection; readonly signal: AbortSignal },
    late: LateRows,
    columns: readonly string[],
  ): Promise<void> {
    const version = late.version?.() ?? null; // Of before: what comes in meanwhile may be among the rows, or not.
    Object.assign(table, { upper: null, version: null, columns: new Set(columns), rows: 0 });
    Object.assign(table, await createLateTable(connection, late, columns, signal, table.name));
    table.version = version;
  }

  return {
    async *over(by, late, columns, work) {
      const kept = find(late.version?.() ?? null, columns);
      const table = kept ?? free();
      table.users++;
      touch(table);
      try {
        if (kept === null) await fill(table, by, late, columns);
        yield* work(table.upper!);
      } finally {
        table.users--;
        await tidy(by.connection);
      }
    },
  };
}
