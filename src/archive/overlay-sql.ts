import { ANONYMOUS } from "../model/ids.ts";
import { VALUE_COLUMNS } from "./columns.ts";

// The rule of `model/fix.ts` in SQL. A field that the upper row carries replaces the lower row's, all others stay, and
// a record without a user is anonymous. The columns of a fix are taken from one row only, unless both have one
// position.

const FIX_NAMES = VALUE_COLUMNS.filter(({ field }) => field?.isOfFix === true).map(({ name }) => name);
/** Decides which fix wins. */
const DECIDING_NAMES = ["latitude", "longitude", "horizontal_accuracy"];

/** Adds the columns that decide which fix wins, if any of the columns belongs to the fix. */
export function withDeciding(columns: readonly string[]): readonly string[] {
  return columns.some((name) => FIX_NAMES.includes(name))
    ? [...new Set([...columns, ...DECIDING_NAMES])]
    : columns;
}

/** Tables of rows to merge into others. They have the keys and all `VALUE_COLUMNS` by name. */
export interface UpperRows {
  readonly rows: string;
  /**
   * Fixes that are merged into the lower row one after the other, in the order of the column `turn`, instead of the
   * upper row's own; null if no row has any.
   */
  readonly fixes: string | null;
}

export interface NamedSql {
  readonly name: string;
  readonly sql: string;
}

export interface Overlay {
  readonly fixes: UpperRows["fixes"];
  /** Gives the upper rows as `n` and the lower rows as `o`; either may be the missing side of a join. */
  readonly from: string;
  readonly keys: readonly NamedSql[];
  /** Further columns, taken from the rows without merging. */
  readonly also?: readonly NamedSql[];
  /** Further columns of both rows that are merged like the position. */
  readonly withPosition?: readonly string[];
}

/** A statement with the keys, all `VALUE_COLUMNS` and the further columns of merged rows. */
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

/** A column of a fix that is merged into another. Either may be missing, and then has no position. */
function laidSql(name: string, over: string, under: string): string {
  const accuracyOf = (alias: string) => `coalesce(${alias}.horizontal_accuracy, 'infinity'::DOUBLE)`;
  const isMerged = `${over}.latitude = ${under}.latitude AND ${over}.longitude = ${under}.longitude`;
  const isKept = `${over}.latitude IS NULL
    OR (${under}.latitude IS NOT NULL AND ${accuracyOf(over)} > ${accuracyOf(under)})`;
  return `CASE WHEN ${isMerged} THEN ${mergedSql(name, over, under)}
    WHEN ${isKept} THEN ${under}.${name} ELSE ${over}.${name} END`;
}

/** A column of a fix that is merged into one at the same position. The position stays as it was: 0 may be -0. */
function mergedSql(name: string, over: string, under: string): string {
  if (name === "latitude" || name === "longitude") return `${under}.${name}`;
  const merge = name === "horizontal_accuracy" ? "least" : "coalesce"; // Both ignore null.
  return `${merge}(${over}.${name}, ${under}.${name})`;
}
