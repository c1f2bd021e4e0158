import type { Column } from "../../../duckdb/database.ts";
import type { Result } from "../../../lib/result.ts";
import type { AppId } from "../../../model/ids.ts";
import type { ReportBatch } from "../../../model/report-batch.ts";

/*
 * What the thread that makes parts and its owner tell each other. Requests have numbers, under which they are answered.
 */

export type Request =
  | { readonly kind: "encode"; readonly appId: AppId; readonly batch: ReportBatch }
  /** Makes the connection of this number. */
  | { readonly kind: "connect"; readonly connection: number }
  | { readonly kind: "run"; readonly connection: number; readonly sql: string };

export type Message =
  | { readonly kind: "request"; readonly id: number; readonly request: Request }
  /** Breaks off a statement, which is answered all the same. */
  | { readonly kind: "interrupt"; readonly id: number }
  | { readonly kind: "disconnect"; readonly connection: number }
  /** All is given up. */
  | { readonly kind: "close" };

/** What a request is answered with: lines of CSV, nothing, or a result's columns. */
export type Value = Uint8Array<ArrayBuffer> | null | readonly Column[];

export interface Fault {
  readonly message: string;
  readonly isOutOfDescriptors: boolean;
}

export type Answer =
  | { readonly kind: "answer"; readonly id: number; readonly result: Result<Value, Fault> }
  /** Something that an operator should know, in a sentence. */
  | { readonly kind: "note"; readonly note: string }
  | { readonly kind: "closed" };
