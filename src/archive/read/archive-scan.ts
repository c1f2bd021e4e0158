import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { ResponseKind } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Part } from "../manifest.ts";
import type { UpperRows } from "../overlay-sql.ts";
import type { LateRows } from "./late-table.ts";

/** Which records of the sealed days a query is about. */
export interface ArchiveScan {
  readonly appId: AppId;
  /** One device, or null for all of the app. */
  readonly deviceId: DeviceId | null;
  /** Only records of this user, or null for all. */
  readonly userId: UserId | null;
  readonly range: TimeRange;
  /** Leaves out records whose horizontal accuracy is greater; those without one stay. */
  readonly accuracyMetersMax: number | null;
  /** The files to read; each lies in the folder of its day. */
  readonly parts: readonly Part[];
  /**
   * Rows of memory that lie over the files' records, already those of the app, the device and the range. The user
   * and the accuracy are looked at after they are laid over.
   */
  readonly late: LateRows | null;
  /** The tables that they are in, once they are. */
  readonly upper?: UpperRows | null;
  /** The response that shows the records: a page may leave out what it does not show. Without it, all is read. */
  readonly shownIn?: ResponseKind;
}
