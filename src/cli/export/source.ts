import type { Result } from "../../lib/result.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { ExportOptions } from "./command.ts";
import type { PlannedFile } from "./split-plan.ts";

/** A source of records: a data directory or a running server. Errors are sentences. */
export interface ExportFrom {
  listDevices(): Promise<Result<readonly DeviceId[], string>>;
  open(file: Omit<PlannedFile, "name">, written: OutputFormat): Promise<Result<OpenExport, string>>;
  close(): Promise<void>;
}

export type OutputFormat = Pick<ExportOptions, "format" | "options">;

/** The records of one file. */
export interface OpenExport {
  /** Whether records are missing because the operator gave them up with `verify --acknowledge`. */
  readonly isIncomplete: boolean;
  /** Throws an `ExportFailedError` if the source fails. */
  pieces(): AsyncIterable<Uint8Array>;
  /** The number of records so far; null if unknown. */
  readonly records: number | null;
}

/** The message is a sentence. */
export class ExportFailedError extends Error {
  override readonly name = "ExportFailedError";
}
