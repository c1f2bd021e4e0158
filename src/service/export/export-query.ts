import type { WriteOptions } from "../../formats/write/record-writer.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";

/** Which records are taken out, and how they are written. */
export interface ExportQuery {
  readonly appId: AppId;
  /** Only these; null for all of the app. */
  readonly deviceIds: readonly string[] | null;
  /** Only records of this user; null for all. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Of `EXPORT_FORMATS`, by name. */
  readonly format: string;
  readonly options: WriteOptions;
}
