import type { Device } from "../../hot/devices/device.ts";
import type { DeviceBlocks } from "../../hot/scan/memory-scan.ts";
import type { Steps } from "../../lib/schedule/in-turns.ts";
import type { AppId, UserId } from "../../model/ids.ts";
import type { Order, TimeRange } from "../../time/range.ts";

export interface HistoryQuery {
  readonly range: TimeRange;
  readonly order: Order;
  readonly offset: number;
  readonly limit: number;
  /** Leaves out records whose horizontal accuracy is greater. */
  readonly accuracyMetersMax: number | null;
  readonly withDistance: boolean;
}

/** A question about history, whatever it is asked of. */
export interface HistoryQuestion {
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
  countQueried(): Steps<number>;
  /** What the answer needs besides a page. */
  readonly wants: "page" | "total" | "devices";
}
