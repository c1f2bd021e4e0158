import { hashText } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import type { DeviceId } from "../../model/ids.ts";
import { RowPages } from "../records/row-pages.ts";
import { Device } from "./device.ts";
import { DeviceColumns } from "./device-columns.ts";

/** No device's number. */
export const NO_DEVICE = -1;

/** An app's devices by id and by number. The number of a device that is gone is given to another. */
export class DeviceTable {
  readonly columns: DeviceColumns;
  /** Of devices that are gone. */
  readonly #freeNumbers: number[] = [];
  /** By their ids. */
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
   * The numbers of the devices of these ids, `NO_DEVICE` where there is none. Each pass fetches what the next one goes
   * on from, and memory that of many ids at once.
   */
  numbersOf(ids: readonly string[]): Int32Array {
    const hashes = new Int32Array(ids.length);
    const links = new Uint32Array(ids.length);
    const numbers = new Int32Array(ids.length);
    for (let at = 0; at < ids.length; at++) hashes[at] = this.#hash(ids[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chains.chainOf(hashes[at]!);
    for (let at = 0; at < ids.length; at++) links[at] = this.#chains.find(links[at]!, hashes[at]!);
    for (let at = 0; at < ids.length; at++) {
      const number = links[at]! - 1; // Of no link it is NO_DEVICE.
      // Two ids may have one hash.
      const isSame = number === NO_DEVICE || this.columns.ids.is(number, ids[at]!);
      numbers[at] = isSame ? number : this.numberOf(ids[at]!);
    }
    return numbers;
  }

  /** Null where the number is nobody's any more. */
  findByNumber(number: number): Device | null {
    return this.columns.ids.has(number) ? this.byNumber(number) : null;
  }

  /** The device of a number that is in use. */
  byNumber(number: number): Device {
    return new Device(this.columns.ids.made(number) as DeviceId | null, number, this.columns);
  }

  /** The id of a number that is in use. */
  idOf(number: number): DeviceId {
    return this.columns.ids.text(number) as DeviceId;
  }

  /** Below 0 where the device of a number that is in use comes before this id in answers, above 0 behind it. */
  compareId(number: number, id: string): number {
    return this.columns.ids.compare(number, id);
  }

  /** Adds a device that is not there yet. */
  add(id: DeviceId): Device {
    const number = this.#freeNumbers.pop() ?? this.columns.ids.numbersEnd;
    this.columns.ids.set(number, id);
    this.#chains.add(number, this.#hash(id));
    return new Device(id, number, this.columns);
  }

  /** Forgets a device that has neither records nor a user any more. */
  remove({ number }: Device): void {
    this.#chains.remove(number);
    this.columns.ids.delete(number);
    this.columns.removals.set(number, this.columns.removals.of(number) + 1);
    this.columns.currentUsers.set(number, 0);
    this.#freeNumbers.push(number);
  }
}
