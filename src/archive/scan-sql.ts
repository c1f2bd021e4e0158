import { ARCHIVE_COLUMNS, VALUE_COLUMNS } from "./columns.ts";
import { LATE_TABLE } from "./late-table.ts";
import { overlaidColumns } from "./overlay-sql.ts";

/** What kind of question it is: its statement's text follows from this alone, all values are bound. */
export interface ScanShape {
  readonly byDevice: boolean;
  readonly byUser: boolean;
  readonly byAccuracy: boolean;
  readonly hasParts: boolean;
  readonly hasLate: boolean;
}

/** Columns that tell which records match; filters on others add theirs. */
export const KEY_NAMES: ReadonlySet<string> = new Set(["app_id", "device_id", "timestamp"]);
/** Columns of whole records, with those that find them. */
export const RECORD_NAMES: ReadonlySet<string> = new Set(
  ARCHIVE_COLUMNS.map(({ name }) => name).filter((name) => name !== "h3_cell"),
);

const VALUE_NAMES = VALUE_COLUMNS.map(({ name }) => name).join(", ");

/** What there is to lay late rows over, where no file has anything. */
const NO_RECORDS = `SELECT NULL::VARCHAR AS app_id, NULL::VARCHAR AS device_id, NULL::BIGINT AS timestamp, ${VALUE_COLUMNS.map(({ name, type }) => `NULL::${type} AS ${name}`).join(", ")} WHERE false`;

/**
 * The matching records as a table of `device_id`, `timestamp` and all values. Parameters: `$files`, `$app`,
 * `$start` and `$end` where there are parts, and `$device`, `$user`, `$accuracy` as the shape says.
 */
export function scanSql(shape: ScanShape): string {
  return `(${shape.hasLate ? overlaid(shape) : `${archived(shape)}${filter(shape, " AND ")}`})`;
}

/** Records of the files by what files are sorted by. */
function archived({ byDevice, hasParts }: ScanShape): string {
  if (!hasParts) return `SELECT device_id, timestamp, ${VALUE_NAMES} FROM (${NO_RECORDS}) WHERE true`;
  const device = byDevice ? " AND device_id = $device" : "";
  return `SELECT device_id, timestamp, ${VALUE_NAMES} FROM read_parquet($files, hive_partitioning = false)
    WHERE app_id = $app AND timestamp >= $start AND timestamp < $end${device}`;
}

/** Records without a late row as they are, and late rows laid over theirs: filters see what came of it. */
function overlaid(shape: ScanShape): string {
  const under = archived(shape);
  const untouched = `SELECT o.* FROM (${under}${filter(shape, " AND ")}) o ANTI JOIN ${LATE_TABLE} n USING (device_id, timestamp)`;
  const touched = `SELECT n.device_id, n.timestamp, ${overlaidColumns("n", "o")} FROM ${LATE_TABLE} n LEFT JOIN (${under}) o USING (device_id, timestamp)`;
  return `${untouched} UNION ALL SELECT * FROM (${touched})${filter(shape, " WHERE ")}`;
}

function filter({ byUser, byAccuracy }: ScanShape, before: string): string {
  const terms: string[] = [];
  if (byUser) terms.push("user_id = $user");
  if (byAccuracy) terms.push("(horizontal_accuracy IS NULL OR horizontal_accuracy <= $accuracy)");
  return terms.length === 0 ? "" : before + terms.join(" AND ");
}
