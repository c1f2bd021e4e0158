import type { ListedDevices } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";
import { DevicesByUser } from "./devices-by-user.ts";

/** Which of an app's devices are whose. */

/** The user of a late row that carries none: whoever made the record it lies over. Also, nobody. */
export const NO_USER = 0;

/** Which of an app's devices are whose: by their newest record, and by all their records in memory. */
export class UsersOfApp {
  readonly #table: DeviceTable;
  readonly #current: DevicesByUser;
  readonly #held: DevicesByUser;

  constructor(table: DeviceTable) {
    this.#table = table;
    this.#current = new DevicesByUser(table);
    this.#held = new DevicesByUser(table);
  }

  /** Users with any device or record; looks at all of them. */
  get count(): number {
    return new Set([...this.#current.users(), ...this.#held.users()]).size;
  }

  /**
   * Devices whose newest record is a user's, as they are whenever somebody looks. The user's number is asked for then:
   * that of one who is gone may be another's.
   */
  currentDevices(userNow: () => number): ListedDevices {
    return this.#current.of(userNow);
  }

  /** The same, of devices with any record of a user's. */
  heldDevices(userNow: () => number): ListedDevices {
    return this.#held.of(userNow);
  }

  /** The device's newest record is now this user's. */
  setCurrent(device: number, user: number): void {
    const { currentUsers } = this.#table.columns;
    const before = currentUsers.of(device);
    if (before === user) return;
    currentUsers.set(device, user);
    if (before !== NO_USER) this.#current.delete(before, device);
    if (user !== NO_USER) this.#current.add(user, device);
  }

  /** One more record of the device's is this user's. */
  countRecord(device: number, user: number): void {
    const isFirst = this.#table.columns.holders.add(device, user);
    if (isFirst && user !== NO_USER) this.#held.add(user, device);
  }

  /** One record fewer of the device's is this user's. */
  discountRecord(device: number, user: number): void {
    const wasLast = this.#table.columns.holders.remove(device, user);
    if (wasLast && user !== NO_USER) this.#held.delete(user, device);
  }
}
