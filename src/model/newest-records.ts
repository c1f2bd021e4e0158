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
  /**
   * A note on each record, for a reader to write down e.g. where it keeps the record's text: 0 until then, and again
   * once the record has changed. By device number, for all devices; another array once devices have come.
   */
  notes(): Float64Array;
}
