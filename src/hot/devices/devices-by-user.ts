import { assert } from "../../lib/assert.ts";
import { NO_NUMBER, NumberMap } from "../../lib/tables/number-map.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { Device } from "./device.ts";
import { DeviceBlock } from "./device-block.ts";
import { DeviceList, type ListedDevices } from "./device-list.ts";
import type { DeviceTable } from "./device-table.ts";

/** Devices of each user of an app. */

/** Who has had more devices has a list of them. */
const FEW_MAX = 8;

/*
 * A link of the chain of a user's few devices: | number of the device | the next link, or NO_LINK |
 */
const DEVICE = 0;
const NEXT = 1;
const WIDTH = 2;
/** The end of a chain, and of that of links that nobody has. The first link is nobody's, so that 0 is none. */
const NO_LINK = 0;
const LINKS_INITIAL = 8;

/**
 * Devices by user, each once for each. Most users have one or two: a list for each of a million took as much as the
 * records of their devices.
 */
export class DevicesByUser {
  readonly #table: DeviceTable;
  /** By user, the first link of the chain of those few. */
  readonly #chains = new NumberMap();
  readonly #lists = new Map<number, DeviceList>();
  #links = new Uint32Array(LINKS_INITIAL * WIDTH);
  #linksEnd = 1;
  #freeLink = NO_LINK;

  constructor(table: DeviceTable) {
    this.#table = table;
  }

  /** Users with any device. */
  *users(): Iterable<number> {
    yield* this.#chains.keys();
    yield* this.#lists.keys();
  }

  /** Adds a device that the user has not. */
  add(user: number, device: number): void {
    const list = this.#lists.get(user) ?? (this.countOfFew(user) === FEW_MAX ? this.#listFew(user) : null);
    if (list !== null) list.add(this.#table.byNumber(device));
    else this.#chains.set(user, this.#takeLink(device, this.#chainOf(user)));
  }

  /** Takes out a device that the user has. */
  delete(user: number, device: number): void {
    const list = this.#lists.get(user);
    if (list === undefined) this.#unlink(user, device);
    else {
      list.delete(this.#table.byNumber(device));
      if (list.size === 0) this.#lists.delete(user);
    }
  }

  /** Those of a user, whose number is asked for whenever somebody looks. */
  of(userNow: () => number): ListedDevices {
    return new DevicesOfUser(userNow, this, this.#table);
  }

  listOf(user: number): DeviceList | null {
    return this.#lists.get(user) ?? null;
  }

  /** Numbers of the devices of a user who has few, in the order of answers. */
  fewOf(user: number): number[] {
    const devices: number[] = [];
    for (let link = this.#chainOf(user); link !== NO_LINK; link = this.#links[link * WIDTH + NEXT]!)
      devices.push(this.#links[link * WIDTH + DEVICE]!);
    return devices.sort((a, b) => this.#table.compareId(a, this.#table.idOf(b)));
  }

  countOfFew(user: number): number {
    let count = 0;
    for (let link = this.#chainOf(user); link !== NO_LINK; link = this.#links[link * WIDTH + NEXT]!) count++;
    return count;
  }

  #chainOf(user: number): number {
    const first = this.#chains.get(user);
    return first === NO_NUMBER ? NO_LINK : first;
  }

  #listFew(user: number): DeviceList {
    const list = new DeviceList(this.#table);
    for (const number of this.fewOf(user)) {
      const device = this.#table.byNumber(number);
      this.#unlink(user, number);
      list.add(device);
    }
    this.#lists.set(user, list);
    return list;
  }

  #takeLink(device: number, next: number): number {
    let link = this.#freeLink;
    if (link === NO_LINK) {
      link = this.#linksEnd++;
      if (link * WIDTH === this.#links.length) this.#growLinks();
    } else this.#freeLink = this.#links[link * WIDTH + NEXT]!;
    this.#links[link * WIDTH + DEVICE] = device;
    this.#links[link * WIDTH + NEXT] = next;
    return link;
  }

  #unlink(user: number, device: number): void {
    const links = this.#links;
    let before = NO_LINK;
    let link = this.#chainOf(user);
    for (;;) {
      assert(link !== NO_LINK, "a device that is taken off a user's is one of them");
      if (links[link * WIDTH + DEVICE] === device) break;
      before = link;
      link = links[link * WIDTH + NEXT]!;
    }
    const next = links[link * WIDTH + NEXT]!;
    if (before !== NO_LINK) links[before * WIDTH + NEXT] = next;
    else if (next !== NO_LINK) this.#chains.set(user, next);
    else this.#chains.delete(user);
    links[link * WIDTH + NEXT] = this.#freeLink;
    this.#freeLink = link;
  }

  #growLinks(): void {
    const grown = new Uint32Array(2 * this.#links.length);
    grown.set(this.#links);
    this.#links = grown;
  }
}

/** One user's, as they are whenever somebody looks. */
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

  settle(): boolean {
    return this.#list?.settle() ?? true;
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

  /** Who had few when somebody began to read may have many now: all of them, which are not many yet. */
  #fewNow(): number[] {
    const list = this.#list;
    return list === null ? this.#all.fewOf(this.#userNow()) : Array.from(list, ({ number }) => number);
  }
}
