import type { Result } from "../../lib/result.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { RecordsExport } from "./command.ts";
import type { PersonalData } from "./complete/personal-data.ts";
import type { PlannedFile } from "./split-plan.ts";

/** A source of records: a data directory or a running server. Errors are sentences. */
export interface ExportFrom {
  /** The devices that have records; with `originals` also those whose records corrections hide. */
  listDevices(originals: boolean): Promise<Result<readonly DeviceId[], string>>;
  open(records: WantedRecords, written: OutputFormat): Promise<Result<OpenExport, string>>;
  /** What is stored about a device or user besides records. */
  readonly data: PersonalData;
  close(): Promise<void>;
}

export interface WantedRecords extends Omit<PlannedFile, "name"> {
  /** Whether records are written as they were reported, without corrections. */
  readonly originals: boolean;
}

export type OutputFormat = Pick<RecordsExport, "format" | "options">;

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
