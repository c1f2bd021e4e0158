import type { AppId, DeviceId } from "./ids.ts";
import type { RecordPage } from "./record-page.ts";

/**
 * The newest record of each device of an app, by device number: what an answer about current positions is written
 * from. Good until anything is reported, so an answer is written in the turn in which its devices were found.
 */
export interface NewestRecords {
  readonly appId: AppId;
  deviceId(device: number): DeviceId;
  /** A page of the one record, good until the next is asked for. */
  pageOf(device: number): RecordPage;
  /** Has the processor fetch these devices' records together, where `pageOf` would wait for each. */
  prefetch(devices: Uint32Array, count: number): void;
  /**
   * A note on each device, for a reader to write down a positive number, e.g. where it keeps the text of the record:
   * 0 until then, negated once the record is another, and 0 again once the number is another device's. By device
   * number, for all devices; another array once devices have come.
   */
  notes(): Float64Array;
}
