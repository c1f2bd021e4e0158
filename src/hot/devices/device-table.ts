import { hashText } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import type { DeviceId } from "../../model/ids.ts";
import { RowPages } from "../records/row-pages.ts";
import { Tracks } from "../records/tracks.ts";
import { Device } from "./device.ts";
import { Holders } from "./holders.ts";
import { NumberColumn } from "./number-column.ts";

/**
 * An app's devices by id and by number, with what is known of each in columns by number. The number of a device that
 * is gone is given to another. An object for each of a million devices, with others for its parts, took a kilobyte.
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
  /** By their ids. */
  readonly #chains = new HashChains();
  readonly #hash: (id: string) => number;

  constructor(pages = new RowPages(), hash = hashText) {
    this.tracks = new Tracks(pages);
    this.#hash = hash;
  }

  get count(): number {
    return this.#chains.size;
  }

  /** Numbers in use are below this. */
  get numbersEnd(): number {
    return this.#ids.length;
  }

  find(id: string): Device | null {
    const hash = this.#hash(id);
    let link = this.#chains.find(this.#chains.chainOf(hash), hash);
    while (link !== END && this.#ids[link - 1] !== id)
      link = this.#chains.find(this.#chains.after(link), hash);
    return link === END ? null : this.byNumber(link - 1);
  }

  /** The devices of these ids; null where there is none. Each pass fetches what the next one goes on from. */
  findAll(ids: readonly string[]): (Device | null)[] {
    const hashes = new Int32Array(ids.length);
    const links = new Uint32Array(ids.length);
    const devices = new Array<Device | null>(ids.length);
    for (let at = 0; at < ids.length; at++) hashes[at] = this.#hash(ids[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chains.chainOf(hashes[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chains.find(links[at]!, hashes[at]!);
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
    this.#ids[number] = id;
    this.#chains.add(number, this.#hash(id));
    return new Device(id, number, this);
  }

  /** Forgets a device that has neither records nor a user any more. */
  remove({ number }: Device): void {
    this.#chains.remove(number);
    this.#ids[number] = undefined;
    this.currentUsers.set(number, 0);
    this.#freeNumbers.push(number);
  }
}
