import { hashText } from "../../lib/tables/hash.ts";
import type { DeviceId } from "../../model/ids.ts";
import { RowPages } from "../records/row-pages.ts";
import { Tracks } from "../records/tracks.ts";
import { Device } from "./device.ts";
import { Holders } from "./holders.ts";
import { NumberColumn } from "./number-column.ts";

/** The end of a chain. Links are one more than the number of the device they lead to. */
const END = 0;
const CAPACITY_MIN = 16;

/**
 * An app's devices by id and by number, with what is known of each in columns by number. The number of a device that
 * is gone is given to another. An object for each of a million devices, with others for its parts, took a kilobyte.
 *
 * Ids are in a hash table of chains that lead from device to device. A `Map` takes 90 bytes more a device, stands
 * still for 60 ms when the 800,000th makes it double (this one for 14 ms at a million), and fetches one id after the
 * other where the passes of `findAll` fetch those of many at once.
 */
export class DeviceTable {
  readonly tracks: Tracks;
  /** User (as the dictionary numbers them) of the newest record; 0 before the first. */
  readonly currentUsers = new NumberColumn((length) => new Uint32Array(length), 0);
  /** Timestamp of the newest record that the archive holds; -Infinity where it holds none. */
  readonly sealedTimes = new NumberColumn((length) => new Float64Array(length), Number.NEGATIVE_INFINITY);
  /** Who made how many of the records in memory. */
  readonly holders = new Holders();
  readonly #ids: (DeviceId | undefined)[] = [];
  /** Of devices that are gone. */
  readonly #freeNumbers: number[] = [];
  #count = 0;
  /** Leads to the first device of each chain. */
  #chains = new Uint32Array(CAPACITY_MIN);
  // By device number: the link to the next of its chain, and the hash of its id.
  #next = new Uint32Array(CAPACITY_MIN);
  #hashes = new Int32Array(CAPACITY_MIN);
  readonly #hash: (id: string) => number;

  constructor(pages = new RowPages(), hash = hashText) {
    this.tracks = new Tracks(pages);
    this.#hash = hash;
  }

  get count(): number {
    return this.#count;
  }

  /** Numbers in use are below this. */
  get numbersEnd(): number {
    return this.#ids.length;
  }

  find(id: string): Device | null {
    const hash = this.#hash(id);
    for (let link = this.#chainOf(hash); link !== END; link = this.#next[link - 1]!) {
      if (this.#hashes[link - 1] !== hash) continue;
      const known = this.#ids[link - 1]!;
      if (known === id) return new Device(known, link - 1, this);
    }
    return null;
  }

  /** The devices of these ids; null where there is none. Each pass fetches what the next one goes on from. */
  findAll(ids: readonly string[]): (Device | null)[] {
    const hashes = new Int32Array(ids.length);
    const links = new Uint32Array(ids.length);
    const devices = new Array<Device | null>(ids.length);
    for (let at = 0; at < ids.length; at++) hashes[at] = this.#hash(ids[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chainOf(hashes[at]!);
    for (let at = 0; at < ids.length; at++) {
      let link = links[at]!;
      while (link !== END && this.#hashes[link - 1] !== hashes[at]) link = this.#next[link - 1]!;
      links[at] = link;
    }
    for (let at = 0; at < ids.length; at++) {
      devices[at] = links[at] === END ? null : this.byNumber(links[at]! - 1);
    }
    for (let at = 0; at < ids.length; at++) {
      const device = devices[at]!;
      if (device !== null && device.id !== ids[at]) devices[at] = this.find(ids[at]!); // Two ids may have one hash.
    }
    return devices;
  }

  /** Null where the number is nobody's any more. */
  findByNumber(number: number): Device | null {
    const id = this.#ids[number];
    return id === undefined ? null : new Device(id, number, this);
  }

  /** The device of a number that is in use. */
  byNumber(number: number): Device {
    return new Device(this.#ids[number]!, number, this);
  }

  /** The id of a number that is in use; undefined where it is not. */
  idOf(number: number): DeviceId | undefined {
    return this.#ids[number];
  }

  /** Timestamp of the newest record, wherever it is; -Infinity before the first. */
  newestMs(number: number): number {
    return Math.max(this.tracks.newestMs(number), this.sealedTimes.of(number));
  }

  /** Adds a device that is not there yet. */
  add(id: DeviceId): Device {
    const number = this.#freeNumbers.pop() ?? this.#ids.length;
    if (number === this.#hashes.length) this.#grow();
    this.#ids[number] = id;
    this.#hashes[number] = this.#hash(id);
    this.#prepend(number);
    this.#count++;
    return new Device(id, number, this);
  }

  /** Forgets a device that has neither records nor a user any more. */
  remove({ number }: Device): void {
    const link = number + 1;
    const chain = this.#hashes[number]! & (this.#chains.length - 1);
    const next = this.#next[number]!;
    if (this.#chains[chain] === link) this.#chains[chain] = next;
    else {
      let before = this.#chains[chain]! - 1;
      while (this.#next[before] !== link) before = this.#next[before]! - 1;
      this.#next[before] = next;
    }
    this.#ids[number] = undefined;
    this.currentUsers.set(number, 0);
    this.#freeNumbers.push(number);
    this.#count--;
  }

  #chainOf(hash: number): number {
    return this.#chains[hash & (this.#chains.length - 1)]!;
  }

  #prepend(number: number): void {
    const chain = this.#hashes[number]! & (this.#chains.length - 1);
    this.#next[number] = this.#chains[chain]!;
    this.#chains[chain] = number + 1;
  }

  /** Twice the numbers and chains; all numbers are in use. */
  #grow(): void {
    const hashes = new Int32Array(2 * this.#hashes.length);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#next = new Uint32Array(hashes.length);
    this.#chains = new Uint32Array(hashes.length);
    for (let number = 0; number < this.#ids.length; number++) this.#prepend(number);
  }
}
