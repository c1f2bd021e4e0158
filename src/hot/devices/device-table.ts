import { hashText } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import type { DeviceId } from "../../model/ids.ts";
import { RowPages } from "../records/row-pages.ts";
import { Device } from "./device.ts";
import { DeviceColumns } from "./device-columns.ts";

export const NO_DEVICE = -1;

/** An app's devices by id and by number. The number of a removed device is used again. */
export class DeviceTable {
  readonly columns: DeviceColumns;
  /** Numbers of removed devices. */
  readonly #freeNumbers: number[] = [];
  /** Finds numbers by the hash of the id. */
  readonly #chains = new HashChains();
  readonly #hash: (id: string) => number;

  constructor(pages = new RowPages(), hash = hashText) {
    this.columns = new DeviceColumns(pages);
    this.#hash = hash;
  }

  get count(): number {
    return this.#chains.size;
  }

  /** Numbers in use are below this. */
  get numbersEnd(): number {
    return this.columns.ids.numbersEnd;
  }

  find(id: string): Device | null {
    const number = this.numberOf(id);
    return number === NO_DEVICE ? null : new Device(id as DeviceId, number, this.columns);
  }

  /** The number of the device, or `NO_DEVICE`. */
  numberOf(id: string): number {
    const hash = this.#hash(id);
    let link = this.#chains.find(this.#chains.chainOf(hash), hash);
    while (link !== END && !this.columns.ids.is(link - 1, id))
      link = this.#chains.find(this.#chains.after(link), hash);
    return link === END ? NO_DEVICE : link - 1;
  }

  /**
   * The device numbers of these ids, `NO_DEVICE` for an unknown id. The work is done in passes over all ids, so that
   * their cache misses overlap.
   */
  numbersOf(ids: readonly string[]): Int32Array {
    const hashes = new Int32Array(ids.length);
    const links = new Uint32Array(ids.length);
    const numbers = new Int32Array(ids.length);
    for (let at = 0; at < ids.length; at++) hashes[at] = this.#hash(ids[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chains.chainOf(hashes[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chains.find(links[at]!, hashes[at]!);
    for (let at = 0; at < ids.length; at++) {
      const number = links[at]! - 1; // NO_DEVICE if there is no link.
      // Two ids may have one hash.
      const isSame = number === NO_DEVICE || this.columns.ids.is(number, ids[at]!);
      numbers[at] = isSame ? number : this.numberOf(ids[at]!);
    }
    return numbers;
  }

  /** Null if no device has the number any more. */
  findByNumber(number: number): Device | null {
    return this.columns.ids.has(number) ? this.byNumber(number) : null;
  }

  /** The device of a number in use. */
  byNumber(number: number): Device {
    return new Device(this.columns.ids.findString(number) as DeviceId | null, number, this.columns);
  }

  /** The id of a number in use. */
  idOf(number: number): DeviceId {
    return this.columns.ids.text(number) as DeviceId;
  }

  /** Negative if the device of this number comes before the id in answers, positive if it comes after. */
  compareId(number: number, id: string): number {
    return this.columns.ids.compare(number, id);
  }

  /** Adds a device that must not be in the table. */
  add(id: DeviceId): Device {
    const number = this.#freeNumbers.pop() ?? this.columns.ids.numbersEnd;
    this.columns.ids.set(number, id);
    this.#chains.add(number, this.#hash(id));
    return new Device(id, number, this.columns);
  }

  /** Removes a device, which must have neither records nor a user. */
  remove({ number }: Device): void {
    this.#chains.remove(number);
    this.columns.ids.delete(number);
    this.columns.removals.set(number, this.columns.removals.of(number) + 1);
    this.columns.currentUsers.set(number, 0);
    this.#freeNumbers.push(number);
  }
}
