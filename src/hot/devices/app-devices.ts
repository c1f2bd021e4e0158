import { assert } from "../../lib/assert.ts";
import { inTurns, type Steps } from "../../lib/schedule/in-turns.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { createPositionIndex } from "../../spatial/position-index.ts";
import { LateMinutes } from "../late/late-minutes.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/track.ts";
import { Device } from "./device.ts";
import { DeviceList } from "./device-list.ts";
import { NewestOfApp } from "./newest-of-app.ts";
import { SealedRows } from "./sealed-rows.ts";

/** The user of a late row that carries none: whoever made the record it lies over. Also, nobody. */
const NO_USER = 0;

const ALWAYS = new AbortController().signal;

/** What memory knows of one app: its devices by id and by user, and where they are. */
export class AppDevices {
  readonly appId: AppId;
  readonly list = new DeviceList();
  /** Newest positions, those of equal distance in order of device ids (UTF-8 bytes). */
  readonly positions = createPositionIndex({
    compare: (a, b) => compareUtf8(this.byNumber(a).id, this.byNumber(b).id),
    isReady: () => this.#isListReady(),
    visit: (show) => {
      for (const block of this.list.blocks()) for (const { number } of block) if (!show(number)) return;
    },
  });
  readonly sealed: SealedRows;
  readonly newestRecords: NewestOfApp;
  readonly lateMinutes = new LateMinutes(this);
  recordCount = 0;
  /** Lists that are being put in order. */
  readonly #ordering = new Set<DeviceList>();
  readonly #byId = new Map<string, Device>();
  readonly #byNumber: (Device | undefined)[] = [];
  /** Numbers of devices that are gone, to be given again. */
  readonly #freeNumbers: number[] = [];
  readonly #users = new Map<number, UserDevices>();

  constructor(appId: AppId, dictionary: Dictionary) {
    this.appId = appId;
    this.sealed = new SealedRows(dictionary);
    this.newestRecords = new NewestOfApp(this, dictionary);
  }

  find(deviceId: string): Device | null {
    return this.#byId.get(deviceId) ?? null;
  }

  findOrAdd(deviceId: DeviceId): Device {
    const known = this.#byId.get(deviceId);
    if (known !== undefined) return known;
    const device = new Device(deviceId, this.#freeNumbers.pop() ?? this.#byNumber.length);
    this.#byId.set(deviceId, device);
    this.#byNumber[device.number] = device;
    this.list.add(device);
    return device;
  }

  /** Where many devices are new, nobody waits for them to be put in order: it is done for those who ask later. */
  #isListReady(): boolean {
    if (!this.list.isSettled) this.#putInOrder(this.list);
    return this.list.isSettled;
  }

  /** Puts a list in order in turns, whether or not anybody reads it. */
  #putInOrder(list: DeviceList): void {
    if (this.#ordering.has(list)) return;
    this.#ordering.add(list);
    void Promise.resolve(inTurns(this.appId, ALWAYS, untilInOrder(list))).finally(() => {
      this.#ordering.delete(list);
    });
  }

  byNumber(number: number): Device {
    return this.#byNumber[number]!;
  }

  /** Null where the number is nobody's any more. */
  findByNumber(number: number): Device | null {
    return this.#byNumber[number] ?? null;
  }

  /** Numbers in use are below this. */
  get deviceNumbers(): number {
    return this.#byNumber.length;
  }

  get deviceCount(): number {
    return this.#byId.size;
  }

  /** Users with any device or record. */
  get userCount(): number {
    return this.#users.size;
  }

  /** The newest record of a device that has one, wherever it is. */
  newest(device: Device): RowRef {
    return device.track.newestMs >= device.sealedNewestMs
      ? device.track.newest()
      : this.sealed.at(device.number);
  }

  /** Forgets a device that has no record in memory. */
  remove(device: Device): void {
    assert(device.track.count === 0, "a device with records is not forgotten");
    this.#byId.delete(device.id);
    this.#byNumber[device.number] = undefined;
    this.#freeNumbers.push(device.number);
    this.list.delete(device);
    this.positions.remove(device.number);
    this.newestRecords.changed(device.number);
    this.#leaveCurrentUser(device);
    this.sealed.remove(device);
  }

  /** Devices whose newest record is this user's. */
  currentDevices(user: number): DeviceList {
    return this.#users.get(user)?.current ?? NO_DEVICES;
  }

  /** Devices with any record of this user's. */
  heldDevices(user: number): DeviceList {
    return this.#users.get(user)?.held ?? NO_DEVICES;
  }

  /** The device's newest record is now this user's. */
  setCurrentUser(device: Device, user: number): void {
    if (device.currentUser === user) return;
    this.#leaveCurrentUser(device);
    device.currentUser = user;
    if (user !== NO_USER) this.#userDevices(user).current.add(device);
  }

  /** One more record of the device's is this user's. */
  countRecord(device: Device, user: number): void {
    if (device.holders.add(user) && user !== NO_USER) this.#userDevices(user).held.add(device);
  }

  /** One record fewer of the device's is this user's: a report changed its holder. */
  discountRecord(device: Device, user: number): void {
    if (!device.holders.remove(user) || user === NO_USER) return;
    const devices = this.#userDevices(user);
    this.#takeOut(devices.held, device);
    this.#forgetIfNone(user, devices);
  }

  #leaveCurrentUser(device: Device): void {
    const devices = this.#users.get(device.currentUser);
    if (devices === undefined) return; // A device that has just come.
    this.#takeOut(devices.current, device);
    this.#forgetIfNone(device.currentUser, devices);
  }

  #takeOut(list: DeviceList, device: Device): void {
    list.delete(device);
    if (list.holdsGone) this.#putInOrder(list);
  }

  /** A user is a number that means another user once no record names this one. */
  #forgetIfNone(user: number, { current, held }: UserDevices): void {
    if (current.size === 0 && held.size === 0) this.#users.delete(user);
  }

  #userDevices(user: number): UserDevices {
    let devices = this.#users.get(user);
    if (devices === undefined) {
      devices = { current: new DeviceList(), held: new DeviceList() };
      this.#users.set(user, devices);
    }
    return devices;
  }
}

const NO_DEVICES = new DeviceList();

function* untilInOrder(list: DeviceList): Steps<void> {
  for (const block of list.blocks()) {
    if (block.length > 0) return;
    yield;
  }
}

interface UserDevices {
  readonly current: DeviceList;
  readonly held: DeviceList;
}
