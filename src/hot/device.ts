import type { DeviceId } from "../model/ids.ts";
import { Track } from "./track.ts";

/** One device of one app, with all its records in memory. Devices are numbered from 0 within their app. */
export class Device {
  readonly id: DeviceId;
  readonly number: number;
  readonly track = new Track();
  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  currentUser = 0;
  /** Who made how many of the records. Most devices have one holder all their life. */
  readonly holders: Holder[] = [];

  constructor(id: DeviceId, number: number) {
    this.id = id;
    this.number = number;
  }

  /** How many of the records this user made. */
  recordsOf(user: number): number {
    return this.holders.find((holder) => holder.user === user)?.records ?? 0;
  }
}

export interface Holder {
  readonly user: number;
  records: number;
}
