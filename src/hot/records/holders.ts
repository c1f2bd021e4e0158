import { assert } from "../../lib/assert.ts";

const LISTED_MAX = 8;

/** No user's number. */
const NOBODY = -1;

/** Who made how many of a device's records in memory. Mostly it is one user, who takes no list. */
export class Holders {
  #user = NOBODY;
  #records = 0;
  #others: OtherHolders | null = null;

  /** Whether no record is counted. */
  get isEmpty(): boolean {
    return this.#user === NOBODY && this.#others === null;
  }

  recordsOf(user: number): number {
    return user === this.#user ? this.#records : (this.#others?.recordsOf(user) ?? 0);
  }

  /** Counts a record of a user's; true where it is the first. */
  add(user: number): boolean {
    if (user === this.#user) {
      this.#records++;
      return false;
    }
    if (this.#user === NOBODY && this.recordsOf(user) === 0) {
      this.#user = user;
      this.#records = 1;
      return true;
    }
    this.#others ??= new OtherHolders();
    return this.#others.add(user);
  }

  /** Takes back a record of a user's; true where it was the last. */
  remove(user: number): boolean {
    const records = this.recordsOf(user);
    assert(records > 0, "a record that is taken back was counted");
    if (user !== this.#user) {
      this.#others!.remove(user);
      if (this.#others!.isEmpty) this.#others = null;
    } else if (records > 1) this.#records--;
    else this.#user = NOBODY;
    return records === 1;
  }
}

/** Few lie in a list of user, records, user, records ...; many in a map, since each report looks for its user. */
class OtherHolders {
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
