import type { Connection } from "../duckdb/database.ts";
import type { UpperRows } from "../overlay-sql.ts";
import type { ArchiveScan } from "./archive-scan.ts";
import { createLateTable, dropLateTable, type LateRows } from "./late-table.ts";

/*
 * Tables of late rows that outlive the question they were made for: to copy rows into one takes as long as to read a
 * page, and the same page and those around it are asked for again. A table is used again as long as the rows are what
 * they were, by their version; a report that comes in while a table is filled leaves it to the one question.
 */
export interface LateTables {
  /**
   * Does the work while the scan's late rows are in a table, their keys and those columns at least. Rejects where the
   * signal comes first.
   */
  over<Value>(
    by: { readonly connection: Connection; readonly signal: AbortSignal },
    scan: ArchiveScan,
    columns: readonly string[],
    work: (tabled: ArchiveScan) => AsyncIterable<Value>,
  ): AsyncIterable<Value>;
}

interface LateTable {
  readonly name: string;
  /** What of it statements read; null until it is filled. */
  upper: UpperRows | null;
  /** What it holds, as of when; null while it is filled, and where nobody can tell. */
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

  /** The oldest table that nobody uses, where nobody can use it again, or there are too many rows. */
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
    async *over(by, scan, columns, work) {
      const { late } = scan;
      if (late === null) {
        yield* work(scan);
        return;
      }
      const kept = find(late.version?.() ?? null, columns);
      const table = kept ?? free();
      table.users++;
      touch(table);
      try {
        if (kept === null) await fill(table, by, late, columns);
        yield* work({ ...scan, upper: table.upper });
      } finally {
        table.users--;
        await tidy(by.connection);
      }
    },
  };
}
