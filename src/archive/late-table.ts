import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS, type StoredField } from "../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { VALUE_COLUMNS } from "./columns.ts";
import type { Connection } from "./duckdb.ts";

/** The temporary table that late rows are in while a statement lays them over archived records. */
export const LATE_TABLE = "late";

const COLUMNS = [
  { name: "device_id", type: "VARCHAR" },
  { name: "timestamp", type: "BIGINT" },
  ...VALUE_COLUMNS,
];
const CREATE = `CREATE TEMP TABLE ${LATE_TABLE} (${COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ")})`;

/*
 * Rows come as one JSON text, an array for each column, which DuckDB reads on its own threads. Chunks of its own that
 * are filled here keep the event loop five times as long, and of each the binding loses some KB of memory.
 */
const SHAPE = JSON.stringify(Object.fromEntries(COLUMNS.map(({ name, type }) => [name, [type]])));
const INSERT = `INSERT INTO ${LATE_TABLE}
  SELECT ${COLUMNS.map(({ name }) => `unnest(rows.${name})`).join(", ")}
  FROM (SELECT from_json($rows, '${SHAPE}') AS rows)`;

/** What one text holds: less than a MB mostly, and a few milliseconds of the event loop. */
const TEXT_ROWS_MAX = 4096;

/** Does the work while the connection has these rows as a table. */
export async function withLateTable<Value>(
  connection: Connection,
  late: ReportBatch,
  work: () => Promise<Value>,
): Promise<Value> {
  await connection.run(CREATE);
  try {
    const textOf = createRowsText(late);
    for (let start = 0; start < late.count; start += TEXT_ROWS_MAX) {
      await connection.run(INSERT, { rows: textOf(start, start + TEXT_ROWS_MAX) });
    }
    return await work();
  } finally {
    await connection.run(`DROP TABLE ${LATE_TABLE}`);
  }
}

/** JSON writes NaN, which stands for no number, as null. */
type Cell = string | number | boolean | null;

/** The text of the rows from `start` to before `end`, as `INSERT` takes it. A column that no row carries is left out. */
function createRowsText(batch: ReportBatch): (start: number, end: number) => string {
  const { count, device, timestampMs, texts } = batch;
  const readers: [string, (row: number) => Cell][] = [
    ["device_id", (row) => texts[device[row]!]!],
    ["timestamp", (row) => timestampMs[row]!],
    ...VALUE_COLUMNS.map(
      ({ name, field }) => [name, cellReader(batch, field!)] as [string, (row: number) => Cell],
    ),
  ];
  return (start, end) => {
    const rows = Array.from({ length: Math.min(end, count) - start }, (_, index) => start + index);
    const columns = readers
      .map(([name, cellOf]) => [name, rows.map(cellOf)] as const)
      .filter(([, cells]) => cells.some((cell) => cell !== null && !Number.isNaN(cell)));
    return JSON.stringify(Object.fromEntries(columns));
  };
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
