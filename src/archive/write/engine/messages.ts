import type { Result } from "../../../lib/result.ts";
import type { AppId } from "../../../model/ids.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { DatabaseOptions } from "../../duckdb/database.ts";

/*
 * What the process that makes parts and ours tell each other. Requests have numbers, under which they are answered;
 * files and connections have numbers that we give them. A statement may take minutes, so the process also says that it
 * works.
 */

export type Request =
  /** The first: opens the database, and is answered with how rows are written there. */
  | { readonly kind: "open"; readonly database: DatabaseOptions }
  | { readonly kind: "open rows"; readonly file: number; readonly path: string }
  | { readonly kind: "append"; readonly file: number; readonly appId: AppId; readonly batch: ReportBatch }
  | { readonly kind: "close rows"; readonly file: number }
  | { readonly kind: "connect"; readonly connection: number }
  | { readonly kind: "disconnect"; readonly connection: number }
  | { readonly kind: "run" | "numbers" | "counts"; readonly connection: number; readonly sql: string };

export interface NumberedRequest {
  readonly id: number;
  readonly request: Request;
}

export type Value = null | string | Float64Array | ReadonlyMap<string, number>;

export interface Fault {
  readonly message: string;
  /** Of an operation that the disk refused. */
  readonly disk: { readonly operation: string; readonly path: string; readonly code: string } | null;
}

export interface Answer {
  readonly id: number;
  readonly result: Result<Value, Fault>;
}

/** The process has worked since it last said anything. */
export const WORKING = "working";

/** What the process sends. */
export type Message = Answer | typeof WORKING;
