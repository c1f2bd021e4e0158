import { ANONYMOUS } from "../model/ids.ts";
import { VALUE_COLUMNS } from "./columns.ts";

/*
 * The rule of `model/fix.ts` in SQL. What the upper row carries replaces, what it leaves out stays, and a record that
 * has no user is anonymous; but the columns of a fix are of one of the rows alone, unless both have its position.
 */

const FIX_NAMES = VALUE_COLUMNS.filter(({ field }) => field?.isOfFix === true).map(({ name }) => name);
/** What decides which fix stays. */
const DECIDING_NAMES = ["latitude", "longitude", "horizontal_accuracy"];

/** The columns with those that decide about them: without them no column of a fix can be laid over another. */
export function withDeciding(columns: readonly string[]): readonly string[] {
  return columns.some((name) => FIX_NAMES.includes(name))
    ? [...new Set([...columns, ...DECIDING_NAMES])]
    : columns;
}

/** Tables of rows that are laid over others, with all `VALUE_COLUMNS` by name and the keys. */
export interface UpperRows {
  readonly rows: string;
  /**
   * Fixes that are laid over the lower row one after the other, in the order of the column `turn`, in place of the
   * upper row's own; null if no row has any.
   */
  readonly fixes: string | null;
}

/** A column of a statement. */
export interface NamedSql {
  readonly name: string;
  readonly sql: string;
}

export interface Overlay {
  readonly fixes: UpperRows["fixes"];
  /** Gives the upper rows as `n` and the lower as `o`; either may be the missing side of a join. */
  readonly from: string;
  readonly keys: readonly NamedSql[];
  /** Columns besides, of the rows as they were. */
  readonly also?: readonly NamedSql[];
  /** Columns of both rows that go with the position. */
  readonly withPosition?: readonly string[];
}

/** A statement that gives the keys and all `VALUE_COLUMNS` of rows with others laid over them, and what is asked. */
export function overlaySql({ fixes, from, keys, also = [], withPosition = [] }: Overlay): string {
  const plain = [...keys, ...also, ...OTHER_COLUMNS];
  const fixNames = [...FIX_NAMES, ...withPosition];
  if (fixes === null) {
    const ofFix = fixNames.map((name) => ({ name, sql: laidSql(name, "n", "o") }));
    return `SELECT ${listOf([...plain, ...ofFix])} FROM ${from}`;
  }
  const keyNames = keys.map(({ name }) => name).join(", ");
  const fixOf = (alias: string) => `{${fixNames.map((name) => `${name}: ${alias}.${name}`).join(", ")}}`;
  const lists = `SELECT ${keyNames}, list(${fixOf("f")} ORDER BY turn) AS fixes FROM ${fixes} f GROUP BY ${keyNames}`;
  const isOfRow = keys.map(({ name }) => `l.${name} = n.${name}`).join(" AND ");
  const joined = `SELECT ${listOf(plain)}, ${fixOf("o")} AS lower, coalesce(l.fixes, [${fixOf("n")}]) AS fixes
    FROM ${from} LEFT JOIN (${lists}) l ON ${isOfRow}`;
  const laid = fixNames.map((name) => `${name}: ${laidSql(name, "fix", "below")}`).join(", ");
  const reduced = `SELECT *, list_reduce(fixes, lambda below, fix: {${laid}}, lower) AS laid FROM (${joined})`;
  const ofFix = fixNames.map((name) => ({ name, sql: `laid.${name}` }));
  return `SELECT ${[...plain.map(({ name }) => name), listOf(ofFix)].join(", ")} FROM (${reduced})`;
}

const OTHER_COLUMNS: readonly NamedSql[] = VALUE_COLUMNS.flatMap(({ name }) => {
  const rest = name === "user_id" ? `, '${ANONYMOUS}'` : "";
  return FIX_NAMES.includes(name) ? [] : [{ name, sql: `coalesce(n.${name}, o.${name}${rest})` }];
});

function listOf(columns: readonly NamedSql[]): string {
  return columns.map(({ name, sql }) => `${sql} AS ${name}`).join(", ");
}

/** A column of a fix that is laid over another; either may be missing, without a position. */
function laidSql(name: string, over: string, under: string): string {
  const accuracyOf = (alias: string) => `coalesce(${alias}.horizontal_accuracy, 'infinity'::DOUBLE)`;
  const isMerged = `${over}.latitude = ${under}.latitude AND ${over}.longitude = ${under}.longitude`;
  const isKept = `${over}.latitude IS NULL
    OR (${under}.latitude IS NOT NULL AND ${accuracyOf(over)} > ${accuracyOf(under)})`;
  return `CASE WHEN ${isMerged} THEN ${mergedSql(name, over, under)}
    WHEN ${isKept} THEN ${under}.${name} ELSE ${over}.${name} END`;
}

/** A column of a fix that is laid over one of the same position, which stays as it was: 0 may be -0. */
function mergedSql(name: string, over: string, under: string): string {
  if (name === "latitude" || name === "longitude") return `${under}.${name}`;
  const merge = name === "horizontal_accuracy" ? "least" : "coalesce"; // Both leave out what is null.
  return `${merge}(${over}.${name}, ${under}.${name})`;
}
