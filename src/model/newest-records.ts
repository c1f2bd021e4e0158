import type { AppId, DeviceId } from "./ids.ts";
import type { RecordPage } from "./record-page.ts";

/**
 * The newest record of each device of an app, by device number, from which answers about current positions are written.
 * Valid until the next report, so an answer is written in the turn in which its devices were selected.
 */
export interface NewestRecords {
  readonly appId: AppId;
  deviceId(device: number): DeviceId;
  /** A page of one record, valid until the next call. */
  pageOf(device: number): RecordPage;
  /** Makes the processor fetch these devices' records together; otherwise each `pageOf` would wait for its own. */
  prefetch(devices: Uint32Array, count: number): void;
  /**
   * One number per device for the reader's use, e.g. the address of the record's encoded text. It is 0 at first; a
   * positive number that the reader writes is negated when the record changes, and becomes 0 when the device number
   * gets another device. Indexed by device number; a new array replaces it when devices are added.
   */
  notes(): Float64Array;
  /** Like `notes()`, for another reader. */
  positionNotes(): Float64Array;
}
