import type { Rows } from "../../duckdb/database.ts";
import type { RowEncoder } from "./row-encoder.ts";

/** What parts are made with: DuckDB, and who writes rows as it reads them. */
export interface PartEngine {
  /** May read the parts, and read and write the scratch directory. */
  readonly database: PartDatabase;
  readonly encoder: RowEncoder;
}

/** A database of DuckDB's, in this thread or another. */
export interface PartDatabase {
  connect(): Promise<PartConnection>;
  close(): void;
}

/** As much of a connection as parts take: nothing of anybody's is in a statement, so no values are bound. */
export interface PartConnection {
  run(sql: string, values: undefined, signal: AbortSignal): Promise<PartRows>;
  close(): void;
}

export type PartRows = Pick<Rows, "numbers" | "texts">;
