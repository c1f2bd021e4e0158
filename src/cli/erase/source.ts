import type { Result } from "../../lib/result.ts";
import type { ErasurePreview } from "../../service/erasures/erase.ts";
import type { EraseOptions } from "./command.ts";

/** A new erasure in the words of the API. */
export interface NewErasureRow {
  readonly id: string;
}

/** An erasure in the words of the API; it has a report once it is finished. */
export type ErasureRow = Readonly<Record<string, unknown>>;

/** The erasures of an app, wherever they are. Errors are sentences. */
export interface EraseSource {
  preview(request: Pick<EraseOptions, "members" | "wanted">): Promise<Result<ErasurePreview, string>>;
  create(request: Pick<EraseOptions, "members" | "wanted">): Promise<Result<NewErasureRow, string>>;
  /** Waits until the files have nothing of it. */
  finished(id: string, onDaysLeft: (days: number) => void): Promise<Result<ErasureRow, string>>;
  close(): Promise<void>;
}
