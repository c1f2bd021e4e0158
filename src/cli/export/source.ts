import type { Result } from "../../lib/result.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { ExportOptions } from "./command.ts";
import type { PlannedFile } from "./split-plan.ts";

/** Where records are exported from: a data directory, or a running server. */
export interface ExportFrom {
  /** All devices that there are records of; the error is for people. */
  listDevices(): Promise<Result<readonly DeviceId[], string>>;
  /** Begins a file; the error is for people. */
  open(file: Omit<PlannedFile, "name">, written: Written): Promise<Result<OpenExport, string>>;
  close(): Promise<void>;
}

/** How records are written. */
export type Written = Pick<ExportOptions, "format" | "options">;

/** A file under way. */
export interface OpenExport {
  /** Whether records are missing that were acknowledged as lost. */
  readonly isIncomplete: boolean;
  /** Throws an `ExportFailedError` where the rest can't be had. */
  pieces(): AsyncIterable<Uint8Array>;
  /** How many records it has, once it is taken; null where that can't be told. */
  readonly records: number | null;
}

/** An export broke off. The message is for people. */
export class ExportFailedError extends Error {
  override readonly name = "ExportFailedError";
}
