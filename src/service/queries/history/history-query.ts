import type { Device } from "../../../hot/devices/device.ts";
import type { MemoryQuery } from "../../../hot/scan/memory-scan.ts";
import type { FieldChoice } from "../../../model/field-choice.ts";
import type { AppId } from "../../../model/ids.ts";
import type { RecordPage } from "../../../model/record-page.ts";
import type { Order, TimeRange } from "../../../model/time/range.ts";
import type { PathLength } from "./path-meter.ts";

/*
 * Queries of a history and their answers.
 */

/** A time range, a page of it, and a filter. */
export interface HistoryQuery {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
  /** Excludes records with a greater horizontal accuracy; null includes all. */
  readonly accuracyMetersMax: number | null;
  readonly withDistance: boolean;
  /** Whether an answer about a device has a total, as that about a user has; false by default. */
  readonly withTotal?: boolean;
  /** Excludes rows of corrections; false by default. */
  readonly originals?: boolean;
  /** The fields that the answer shows; pages from the archive may lack others. Defaults to all of its kind. */
  readonly fields?: FieldChoice;
}

/** A query of a device, of a user or of a whole app. Its range ends at the retention. */
export interface HistoryScan extends HistoryQuery, MemoryQuery {
  readonly appId: AppId;
  /** The one device, or null. */
  readonly device: Device | null;
  /** How many devices are queried. */
  countQueried(): number;
  /** What the answer contains besides a page. */
  readonly wants: "page" | "total" | "devices";
}

/** The answer to a history query, from one store or both. */
export interface HistoryAnswer {
  /** The records, page after page; each page has a dictionary of its own. */
  readonly pages: readonly RecordPage[];
  readonly count: number;
  readonly hasMore: boolean;
  /** Matching records before paging; null if the query does not want it. */
  readonly total: number | null;
  /** Devices with a matching record; null if the query does not want it. */
  readonly devicesMatching: number | null;
  /** Devices that were asked. */
  readonly devicesQueried: number;
  /** Length of each device's path, in order of device ids; null if the query does not want it. */
  readonly paths: readonly PathLength[] | null;
  readonly bytesRead: number;
  readonly source: "hot" | "archive" | "hot+archive";
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}
