import { assert } from "../../lib/assert.ts";
import { NumberColumn } from "../../lib/tables/columns.ts";

const LISTED_MAX = 8;

/** How many records in memory each user has of a device, by device number. Most devices have one user, and no list. */
export class UserCounts {
  /** The first user's number plus 1; 0 if there is none. */
  readonly #first = new NumberColumn();
  /** Records of the first user. */
  readonly #records = new NumberColumn();
  /** Further users, of the devices that have any. */
  readonly #others = new Map<number, OtherUsers>();

  /** Whether no record of the device is counted. */
  isEmpty(device: number): boolean {
    return this.#first.of(device) === 0 && !this.#others.has(device);
  }

  recordsOf(device: number, user: number): number {
    if (this.#first.of(device) === user + 1) return this.#records.of(device);
    return this.#others.get(device)?.recordsOf(user) ?? 0;
  }

  /** Counts a record of the user; true if it is the first one of theirs. */
  add(device: number, user: number): boolean {
    const first = this.#first.of(device);
    if (first === user + 1) {
      this.#records.set(device, this.#records.of(device) + 1);
      return false;
    }
    if (first === 0 && this.recordsOf(device, user) === 0) {
      this.#first.set(device, user + 1);
      this.#records.set(device, 1);
      return true;
    }
    let others = this.#others.get(device);
    if (others === undefined) {
      others = new OtherUsers();
      this.#others.set(device, others);
    }
    return others.add(user);
  }

  /** Discounts a record of the user; true if it was the last one. */
  remove(device: number, user: number): boolean {
    const records = this.recordsOf(device, user);
    assert(records > 0, "a record that is discounted was counted");
    if (this.#first.of(device) !== user + 1) {
      const others = this.#others.get(device)!;
      others.remove(user);
      if (others.isEmpty) this.#others.delete(device);
    } else if (records > 1) this.#records.set(device, records - 1);
    else this.#first.set(device, 0);
    return records === 1;
  }
}

/**
 * Few users lie in a list of user, records, user, records ...; many in a map, since each report searches for its user.
 */
class OtherUsers {
  #list: number[] = [];
  #map: Map<number, number> | null = null;

  get isEmpty(): boolean {
    return this.#map === null && this.#list.length === 0;
  }

  recordsOf(user: number): number {
    if (this.#map !== null) return this.#map.get(user) ?? 0;
    const at = this.#indexOf(user);
    return at < 0 ? 0 : this.#list[at + 1]!;
  }

  add(user: number): boolean {
    if (this.#map !== null) return this.#addToMap(this.#map, user);
    const at = this.#indexOf(user);
    if (at >= 0) {
      this.#list[at + 1]!++;
      return false;
    }
    if (this.#list.length < LISTED_MAX * 2) {
      this.#list.push(user, 1);
      return true;
    }
    this.#map = new Map();
    for (let from = 0; from < this.#list.length; from += 2) {
      this.#map.set(this.#list[from]!, this.#list[from + 1]!);
    }
    this.#list = [];
    return this.#addToMap(this.#map, user);
  }

  remove(user: number): void {
    const records = this.recordsOf(user);
    if (this.#map === null) {
      const at = this.#indexOf(user);
      if (records > 1) this.#list[at + 1]!--;
      else this.#list.splice(at, 2);
    } else {
      if (records > 1) this.#map.set(user, records - 1);
      else this.#map.delete(user);
      if (this.#map.size <= LISTED_MAX / 2) {
        this.#list = [...this.#map].flat();
        this.#map = null;
      }
    }
  }

  #addToMap(map: Map<number, number>, user: number): boolean {
    const records = map.get(user) ?? 0;
    map.set(user, records + 1);
    return records === 0;
  }

  #indexOf(user: number): number {
    const list = this.#list;
    for (let at = 0; at < list.length; at += 2) if (list[at] === user) return at;
    return -1;
  }
}
