import type { Device } from "./device.ts";
import { DeviceList } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";

/** Which of an app's devices are whose. */

/** The user of a late row that carries none: whoever made the record it lies over. Also, nobody. */
const NO_USER = 0;

/** Which of an app's devices are whose: by their newest record, and by all their records in memory. */
export class UsersOfApp {
  readonly #table: DeviceTable;
  readonly #users = new Map<number, DevicesOfUser>();
  readonly #none: DeviceList;

  constructor(table: DeviceTable) {
    this.#table = table;
    this.#none = new DeviceList(table);
  }

  /** Users with any device or record. */
  get count(): number {
    return this.#users.size;
  }

  /** Devices whose newest record is this user's. */
  currentDevices(user: number): DeviceList {
    return this.#users.get(user)?.current ?? this.#none;
  }

  /** Devices with any record of this user's. */
  heldDevices(user: number): DeviceList {
    return this.#users.get(user)?.held ?? this.#none;
  }

  /** The device's newest record is now this user's. */
  setCurrent(device: Device, user: number): void {
    if (device.currentUser === user) return;
    this.leaveCurrent(device);
    device.currentUser = user;
    if (user !== NO_USER) this.#devicesOf(user).current.add(device);
  }

  /** The device's newest record is nobody's any more. */
  leaveCurrent(device: Device): void {
    const devices = this.#users.get(device.currentUser);
    if (devices === undefined) return; // A device that has just come.
    devices.current.delete(device);
    this.#forgetIfNone(device.currentUser, devices);
  }

  /** One more record of the device's is this user's. */
  countRecord(device: Device, user: number): void {
    if (device.holders.add(user) && user !== NO_USER) this.#devicesOf(user).held.add(device);
  }

  /** One record fewer of the device's is this user's. */
  discountRecord(device: Device, user: number): void {
    if (!device.holders.remove(user) || user === NO_USER) return;
    const devices = this.#devicesOf(user);
    devices.held.delete(device);
    this.#forgetIfNone(user, devices);
  }

  /** A user is a number that means another user once no record names this one. */
  #forgetIfNone(user: number, { current, held }: DevicesOfUser): void {
    if (current.size === 0 && held.size === 0) this.#users.delete(user);
  }

  #devicesOf(user: number): DevicesOfUser {
    let devices = this.#users.get(user);
    if (devices === undefined) {
      devices = { current: new DeviceList(this.#table), held: new DeviceList(this.#table) };
      this.#users.set(user, devices);
    }
    return devices;
  }
}

interface DevicesOfUser {
  readonly current: DeviceList;
  readonly held: DeviceList;
}
