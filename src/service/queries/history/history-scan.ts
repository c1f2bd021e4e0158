import type { Device } from "../../../hot/devices/device.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import type { DeviceBlocks, MemoryScan } from "../../../hot/scan/memory-scan.ts";
import type { AppId, UserId } from "../../../model/ids.ts";
import type { TimeRange } from "../../../model/time/range.ts";
import type { HistoryQuery } from "./history-query.ts";

/** A query, and the app, device or user whose history it is asked of. */
export interface HistoryScan {
  readonly appId: AppId;
  readonly query: HistoryQuery;
  /** The query's range without what is past the retention. */
  readonly range: TimeRange;
  /** The one device, or null. */
  readonly device: Device | null;
  readonly userId: UserId | null;
  /** Devices that memory is asked about. */
  readonly devices: DeviceBlocks;
  /** How many devices are asked. */
  countQueried(): number;
  /** What the answer needs besides a page. */
  readonly wants: "page" | "total" | "devices";
}

/** What a scan asks of memory, in a stretch of its range. */
export function scanMemory(
  hot: HotStore,
  { devices, query, userId }: HistoryScan,
  range: TimeRange,
): MemoryScan {
  return hot.scan({ devices, range, userId, accuracyMetersMax: query.accuracyMetersMax });
}
