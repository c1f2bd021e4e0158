import { assert } from "../../lib/assert.ts";

const LISTED_MAX = 8;

/**
 * Who made how many of a device's records in memory. Most devices have one or two users, so few lie in a list of user,
 * records, user, records ...; many in a map, since each report looks for its user.
 */
export class Holders {
  #list: number[] = [];
  #map: Map<number, number> | null = null;

  /** Whether no record is counted. */
  get isEmpty(): boolean {
    return this.#map === null && this.#list.length === 0;
  }

  recordsOf(user: number): number {
    if (this.#map !== null) return this.#map.get(user) ?? 0;
    const at = this.#indexOf(user);
    return at < 0 ? 0 : this.#list[at + 1]!;
  }

  /** Counts a record of a user's; true where it is the first. */
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

  /** Takes back a record of a user's; true where it was the last. */
  remove(user: number): boolean {
    const records = this.recordsOf(user);
    assert(records > 0, "a record that is taken back was counted");
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
    return records === 1;
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
