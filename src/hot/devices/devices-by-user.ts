import { assert } from "../../lib/assert.ts";
import { NumberColumn } from "../../lib/tables/columns.ts";
import { hashNumber } from "../../lib/tables/hash.ts";
import { END, HashChains } from "../../lib/tables/hash-chains.ts";
import { NumberPool } from "../../lib/tables/number-pool.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Device } from "./device.ts";
import { DeviceBlock, DeviceList, type ListedDevices } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";

/** A user with more devices than this has a list. */
const FEW_MAX = 8;
/** Marks a pair that is not in use; users are numbered from 1. */
const FREE = 0;

/**
 * The devices of each user. Most users have one or two: a list for each of a million users took as much memory as the
 * records of their devices, so few devices are stored as pairs of user and device.
 */
export class DevicesByUser {
  readonly #table: DeviceTable;
  /** Numbers of the pairs, which are found by their user. */
  readonly #pairs = new NumberPool();
  #pairsEnd = 0;
  readonly #chains = new HashChains();
  readonly #userOf = new NumberColumn();
  readonly #deviceOf = new NumberColumn();
  readonly #lists = new Map<number, DeviceList>();

  constructor(table: DeviceTable) {
    this.#table = table;
  }

  /** Users with at least one device. */
  *users(): Iterable<number> {
    for (let pair = 0; pair < this.#pairsEnd; pair++) {
      const user = this.#userOf.of(pair);
      if (user !== FREE && this.#firstOf(user) === pair + 1) yield user;
    }
    yield* this.#lists.keys();
  }

  /** Adds a device that the user must not have yet. */
  add(user: number, device: number): void {
    const list = this.#lists.get(user) ?? (this.countOfFew(user) === FEW_MAX ? this.#listFew(user) : null);
    if (list !== null) list.add(this.#table.byNumber(device));
    else this.#addPair(user, device);
  }

  /** Removes a device that the user must have. */
  delete(user: number, device: number): void {
    const list = this.#lists.get(user);
    if (list === undefined) this.#deletePair(user, device);
    else {
      list.delete(this.#table.byNumber(device));
      if (list.size === 0) this.#lists.delete(user);
    }
  }

  /**
   * The devices of a user as they are at each read. `userNow` gives the user's number, which may change between reads.
   */
  of(userNow: () => number): ListedDevices {
    return new DevicesOfUser(userNow, this, this.#table);
  }

  listOf(user: number): DeviceList | null {
    return this.#lists.get(user) ?? null;
  }

  /** Numbers of the devices of a user without a list, in the order of answers. */
  fewOf(user: number): number[] {
    const devices: number[] = [];
    for (let link = this.#firstOf(user); link !== END; link = this.#after(link, user))
      devices.push(this.#deviceOf.of(link - 1));
    return devices.sort((a, b) => this.#table.compareId(a, this.#table.idOf(b)));
  }

  countOfFew(user: number): number {
    let count = 0;
    for (let link = this.#firstOf(user); link !== END; link = this.#after(link, user)) count++;
    return count;
  }

  /** A link to the first of a user's pairs, or `END`. No two users have the same hash. */
  #firstOf(user: number): number {
    const hash = hashNumber(user);
    return this.#chains.find(this.#chains.chainOf(hash), hash);
  }

  #after(link: number, user: number): number {
    return this.#chains.find(this.#chains.after(link), hashNumber(user));
  }

  #listFew(user: number): DeviceList {
    const list = new DeviceList(this.#table);
    for (const number of this.fewOf(user)) {
      const device = this.#table.byNumber(number);
      this.#deletePair(user, number);
      list.add(device);
    }
    this.#lists.set(user, list);
    return list;
  }

  #addPair(user: number, device: number): void {
    const pair = this.#pairs.take();
    this.#pairsEnd = Math.max(this.#pairsEnd, pair + 1);
    this.#userOf.set(pair, user);
    this.#deviceOf.set(pair, device);
    this.#chains.add(pair, hashNumber(user));
  }

  #deletePair(user: number, device: number): void {
    let link = this.#firstOf(user);
    while (link !== END && this.#deviceOf.of(link - 1) !== device) link = this.#after(link, user);
    assert(link !== END, "a device that is deleted belongs to the user");
    const pair = link - 1;
    this.#chains.remove(pair);
    this.#userOf.set(pair, FREE);
    this.#pairs.giveBack(pair);
  }
}

/** The devices of one user, as they are at each read. */
class DevicesOfUser implements ListedDevices {
  readonly #userNow: () => number;
  readonly #all: DevicesByUser;
  readonly #table: DeviceTable;

  constructor(userNow: () => number, all: DevicesByUser, table: DeviceTable) {
    this.#userNow = userNow;
    this.#all = all;
    this.#table = table;
  }

  get size(): number {
    return this.#list?.size ?? this.#all.countOfFew(this.#userNow());
  }

  sortPending(): boolean {
    return this.#list?.sortPending() ?? true;
  }

  reader(afterId: DeviceId | null = null): () => DeviceBlock | null {
    const listed = this.#list?.reader(afterId);
    if (listed !== undefined) return listed;
    let isOver = false;
    return () => {
      if (isOver) return null;
      isOver = true;
      const few = this.#fewNow();
      const behind =
        afterId === null ? few : few.filter((device) => this.#table.compareId(device, afterId) > 0);
      const last = behind.at(-1);
      return last === undefined ? null : new DeviceBlock(this.#table, behind, this.#table.idOf(last));
    };
  }

  *blocks(): Iterable<readonly Device[]> {
    if (this.#list !== null) yield* this.#list.blocks();
    else if (this.size > 0) yield this.#fewNow().map((number) => this.#table.byNumber(number));
  }

  *[Symbol.iterator](): Iterator<Device> {
    for (const block of this.blocks()) yield* block;
  }

  get #list(): DeviceList | null {
    return this.#all.listOf(this.#userNow());
  }

  /** The user's devices if they are few. A user may have got a list since the read began; that list is still short. */
  #fewNow(): number[] {
    const list = this.#list;
    return list === null ? this.#all.fewOf(this.#userNow()) : Array.from(list, ({ number }) => number);
  }
}
