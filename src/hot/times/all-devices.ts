import type { Device } from "../devices/device.ts";
import type { DeviceList } from "../devices/device-list.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import type { DeviceBlocks } from "../scan/memory-scan.ts";
import type { TimeIndex } from "./time-index.ts";

/** All devices of an app, of whose records an index by time can be had. */
export class AllDevices implements DeviceBlocks {
  readonly table: DeviceTable;
  readonly list: DeviceList;
  readonly times: TimeIndex;

  constructor(table: DeviceTable, list: DeviceList, times: TimeIndex) {
    this.table = table;
    this.list = list;
    this.times = times;
  }

  get size(): number {
    return this.list.size;
  }

  blocks(): Iterable<readonly Device[]> {
    return this.list.blocks();
  }
}
