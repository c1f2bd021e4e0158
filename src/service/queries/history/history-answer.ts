import type { RecordPage } from "../../../model/record-page.ts";
import type { PathLength } from "./path-meter.ts";

/** What a history query comes to, whichever stores it was answered from. */
export interface HistoryAnswer {
  /** The records, page after page; each page has a dictionary of its own. */
  readonly pages: readonly RecordPage[];
  readonly count: number;
  readonly hasMore: boolean;
  /** Matching records before paging; null where nobody asked. */
  readonly total: number | null;
  /** Devices with a matching record; null where nobody asked. */
  readonly devicesMatching: number | null;
  /** Devices that were asked. */
  readonly devicesQueried: number;
  /** Length of each device's path, in order of device ids; null where it was not asked for. */
  readonly paths: readonly PathLength[] | null;
  readonly bytesRead: number;
  readonly source: "hot" | "archive" | "hot+archive";
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}
