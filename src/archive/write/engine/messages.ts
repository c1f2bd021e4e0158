import type { Result } from "../../../lib/result.ts";
import type { AppId } from "../../../model/ids.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";
import type { DatabaseOptions, SqlValues } from "../../duckdb/database.ts";

// The messages between this process and the helper process that makes parts. Requests have numbers, which their answers
// repeat; this process numbers files and connections. A statement may take minutes, so the helper also reports that it
// works.

export type Request =
  /** The first request. Opens the database; the answer is the format of staged rows. */
  | { readonly kind: "open"; readonly database: DatabaseOptions }
  | { readonly kind: "open rows"; readonly file: number; readonly path: string }
  | { readonly kind: "append"; readonly file: number; readonly appId: AppId; readonly batch: ReportBatch }
  | { readonly kind: "close rows"; readonly file: number }
  | { readonly kind: "connect"; readonly connection: number }
  | { readonly kind: "disconnect"; readonly connection: number }
  | {
      readonly kind: "run" | "numbers" | "counts";
      readonly connection: number;
      readonly sql: string;
      readonly values?: SqlValues | undefined;
    };

export interface NumberedRequest {
  readonly id: number;
  readonly request: Request;
}

export type Value = null | string | Float64Array | ReadonlyMap<string, number>;

export interface Fault {
  readonly message: string;
  /** Set if the disk refused an operation. */
  readonly disk: { readonly operation: string; readonly path: string; readonly code: string } | null;
}

export interface Answer {
  readonly id: number;
  readonly result: Result<Value, Fault>;
}

/** The helper has worked since its last message. */
export const WORKING = "working";

/** A message of the helper. */
export type Message = Answer | typeof WORKING;
