import type { DeviceId } from "../../model/ids.ts";
import { Holders } from "../records/holders.ts";
import { Track } from "../records/track.ts";

/** One device of one app, with all its records in memory. Devices are numbered from 0 within their app. */
export class Device {
  readonly id: DeviceId;
  readonly number: number;
  readonly track = new Track();
  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  currentUser = 0;
  /** Timestamp of the newest record that the archive holds; -Infinity where it holds none. */
  sealedNewestMs = Number.NEGATIVE_INFINITY;
  /** Who made how many of the records in memory; nobody those that may lie over somebody's record in the archive. */
  readonly holders = new Holders();

  constructor(id: DeviceId, number: number) {
    this.id = id;
    this.number = number;
  }

  /** Whether memory has its record of this instant. */
  hasRecordAt(timestampMs: number): boolean {
    return this.track.find(timestampMs) !== null;
  }

  /** Timestamp of the newest record, wherever it is; -Infinity before the first. */
  get newestMs(): number {
    return Math.max(this.track.newestMs, this.sealedNewestMs);
  }
}
