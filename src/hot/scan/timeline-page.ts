import type { RecordPage } from "../../model/record-page.ts";

/** A page in order of time, then of devices, or all of it reversed. It is made last, and good until reports come in. */
export interface Timeline {
  readonly page: RecordPage;
  /** Matching records before paging. */
  readonly total: number;
  /** Devices with a matching record. */
  readonly devices: number;
  /** Bytes of records that were read. */
  readonly bytesRead: number;
}
