import type { Result } from "../../lib/result.ts";
import type { EraseOptions } from "./command.ts";

/** What an erasure destroys, in the words of the API. */
export interface ErasureCounts {
  /** Absent for a dry run. */
  readonly id?: string;
  readonly records: number;
  readonly devices: number;
  readonly corrections: number;
}

/** An erasure in the words of the API; it has a report once it is finished. */
export type ErasureRow = Readonly<Record<string, unknown>>;

/** The erasures of an app, wherever they are. Errors are sentences. */
export interface EraseSource {
  preview(request: Pick<EraseOptions, "members" | "wanted">): Promise<Result<ErasureCounts, string>>;
  create(request: Pick<EraseOptions, "members" | "wanted">): Promise<Result<ErasureCounts, string>>;
  /** Waits until the files have nothing of it. */
  finished(id: string, onDaysLeft: (days: number) => void): Promise<Result<ErasureRow, string>>;
  close(): Promise<void>;
}
