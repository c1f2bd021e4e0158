import { type LocationField, NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { VALUE_COLUMNS } from "./columns.ts";
import type { Connection, SqlCell } from "./duckdb.ts";

/** Late rows as a temporary table of a connection, while one question is answered. */
export const LATE_TABLE = "late";

const COLUMNS = [
  { name: "device_id", type: "VARCHAR" },
  { name: "timestamp", type: "BIGINT" },
  ...VALUE_COLUMNS,
] as const;

const CREATE = `CREATE OR REPLACE TEMP TABLE ${LATE_TABLE} (${COLUMNS.map(({ name, type }) => `${name} ${type}`).join(", ")})`;

export async function putLateRows(connection: Connection, batch: ReportBatch): Promise<void> {
  await connection.run(CREATE);
  const { texts } = batch;
  const columns: SqlCell[][] = [
    Array.from(batch.device, (text) => texts[text]!),
    Array.from(batch.timestampMs, BigInt),
    ...VALUE_COLUMNS.map(({ field }) => cellsOf(batch, field!)),
  ];
  await connection.append(
    LATE_TABLE,
    COLUMNS.map(({ type }) => type),
    columns,
  );
}

export async function dropLateRows(connection: Connection): Promise<void> {
  await connection.run(`DROP TABLE IF EXISTS ${LATE_TABLE}`);
}

function cellsOf(batch: ReportBatch, field: LocationField): SqlCell[] {
  switch (field.column) {
    case "number": {
      const column = batch.numbers[NUMBER_FIELDS.indexOf(field)]!;
      return Array.from(column, (value) => (Number.isNaN(value) ? null : value));
    }
    case "profile":
      return tupleCells(batch, batch.profiles, batch.profile, PROFILE_FIELDS, field);
    default:
      return tupleCells(batch, batch.states, batch.state, STATE_FIELDS, field);
  }
}

function tupleCells(
  { texts }: ReportBatch,
  tuples: Uint32Array,
  tupleOfRow: Uint32Array,
  fields: readonly LocationField[],
  field: LocationField,
): SqlCell[] {
  const member = fields.indexOf(field);
  return Array.from(tupleOfRow, (tuple) => {
    const text = tuples[tuple * fields.length + member]!;
    if (text === NOT_CARRIED) return null;
    return field.type === "boolean" ? texts[text] === "true" : texts[text]!;
  });
}
