import type { Device } from "./device.ts";
import type { ListedDevices } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";
import { DevicesByUser } from "./devices-by-user.ts";

/** Which of an app's devices are whose. */

/** The user of a late row that carries none: whoever made the record it lies over. Also, nobody. */
const NO_USER = 0;

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

  /** Devices whose newest record is this user's. */
  currentDevices(user: number): ListedDevices {
    return this.#current.of(user);
  }

  /** Devices with any record of this user's. */
  heldDevices(user: number): ListedDevices {
    return this.#held.of(user);
  }

  /** The device's newest record is now this user's. */
  setCurrent(device: Device, user: number): void {
    if (device.currentUser === user) return;
    this.leaveCurrent(device);
    this.#table.currentUsers.set(device.number, user);
    if (user !== NO_USER) this.#current.add(user, device);
  }

  /** The device's newest record is nobody's any more. */
  leaveCurrent(device: Device): void {
    const user = device.currentUser;
    if (user !== NO_USER) this.#current.delete(user, device);
  }

  /** One more record of the device's is this user's. */
  countRecord(device: Device, user: number): void {
    const isFirst = this.#table.holders.add(device.number, user);
    if (isFirst && user !== NO_USER) this.#held.add(user, device);
  }

  /** One record fewer of the device's is this user's. */
  discountRecord(device: Device, user: number): void {
    const wasLast = this.#table.holders.remove(device.number, user);
    if (wasLast && user !== NO_USER) this.#held.delete(user, device);
  }
}
