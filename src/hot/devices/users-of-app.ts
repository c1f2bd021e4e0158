import type { ListedDevices } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";
import { DevicesByUser } from "./devices-by-user.ts";

/** No user. A late row without a user belongs to the user of the archived record below it. */
export const NO_USER = 0;

/** The devices of each user of an app: by their newest record, and by all their records in memory. */
export class UsersOfApp {
  readonly #table: DeviceTable;
  readonly #current: DevicesByUser;
  readonly #withRecords: DevicesByUser;

  constructor(table: DeviceTable) {
    this.#table = table;
    this.#current = new DevicesByUser(table);
    this.#withRecords = new DevicesByUser(table);
  }

  /** Users with a device or a record. Visits all of them. */
  get count(): number {
    return new Set([...this.#current.users(), ...this.#withRecords.users()]).size;
  }

  /**
   * The devices whose newest record is the user's, as they are at each read. `userNow` is called at each read, because
   * the number of a user who is gone may be another user's.
   */
  currentDevices(userNow: () => number): ListedDevices {
    return this.#current.of(userNow);
  }

  /** Like `currentDevices()`, but devices with any record of the user in memory. */
  devicesWithRecords(userNow: () => number): ListedDevices {
    return this.#withRecords.of(userNow);
  }

  /** Sets the user of the device's newest record. */
  setCurrent(device: number, user: number): void {
    const { currentUsers } = this.#table.columns;
    const before = currentUsers.of(device);
    if (before === user) return;
    currentUsers.set(device, user);
    if (before !== NO_USER) this.#current.delete(before, device);
    if (user !== NO_USER) this.#current.add(user, device);
  }

  /** Counts one more record of the device as this user's. */
  countRecord(device: number, user: number): void {
    const isFirst = this.#table.columns.userCounts.add(device, user);
    if (isFirst && user !== NO_USER) this.#withRecords.add(user, device);
  }

  /** Counts one record of the device less as this user's. */
  discountRecord(device: number, user: number): void {
    const wasLast = this.#table.columns.userCounts.remove(device, user);
    if (wasLast && user !== NO_USER) this.#withRecords.delete(user, device);
  }
}
