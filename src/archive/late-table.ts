import { type LocationField, NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { VALUE_COLUMNS } from "./columns.ts";
import type { Connection, SqlCell, SqlType } from "./duckdb.ts";

/** The temporary table that late rows are in while a statement lays them over archived records. */
export const LATE_TABLE = "late";

const COLUMNS: readonly { readonly name: string; readonly type: SqlType }[] = [
  { name: "device_id", type: "VARCHAR" },
  { name: "timestamp", type: "BIGINT" },
  ...VALUE_COLUMNS,
];
const CREATE = `CREATE TEMP TABLE ${LATE_TABLE} (${COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ")})`;

/** Does the work while the connection has these rows as a table. */
export async function withLateTable<Value>(
  connection: Connection,
  late: ReportBatch,
  work: () => Promise<Value>,
): Promise<Value> {
  await connection.run(CREATE);
  try {
    const types = COLUMNS.map(({ type }) => type);
    await connection.append(LATE_TABLE, types, cellsOf(late));
    return await work();
  } finally {
    await connection.run(`DROP TABLE ${LATE_TABLE}`);
  }
}

function cellsOf(batch: ReportBatch): SqlCell[][] {
  const { device, timestampMs, texts } = batch;
  const values = VALUE_COLUMNS.map(({ field }) => valuesOf(batch, field!));
  return [Array.from(device, (text) => texts[text]!), Array.from(timestampMs, BigInt), ...values];
}

function valuesOf(batch: ReportBatch, field: LocationField): SqlCell[] {
  const { numbers, profiles, profile, states, state } = batch;
  if (field.column === "number") {
    const column = numbers[NUMBER_FIELDS.indexOf(field)]!;
    return Array.from(column, (value) => (Number.isNaN(value) ? null : value));
  }
  const isProfile = field.column === "profile";
  const fields = isProfile ? PROFILE_FIELDS : STATE_FIELDS;
  const cells = memberCells(isProfile ? profiles : states, fields.length, fields.indexOf(field), (text) =>
    field.type === "boolean" ? batch.texts[text] === "true" : batch.texts[text]!,
  );
  return Array.from(isProfile ? profile : state, (tuple) => cells[tuple]!);
}

/** One member of each distinct tuple. */
function memberCells(
  tuples: Uint32Array,
  width: number,
  member: number,
  cellOf: (text: number) => SqlCell,
): SqlCell[] {
  return Array.from({ length: tuples.length / width }, (_, tuple) => {
    const text = tuples[tuple * width + member]!;
    return text === NOT_CARRIED ? null : cellOf(text);
  });
}
