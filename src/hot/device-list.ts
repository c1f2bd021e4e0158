import { compareUtf8 } from "../lib/utf8.ts";
import type { Device } from "./device.ts";

/**
 * Devices of an app or a user in the order of answers (UTF-8 bytes of their ids). Changes wait until
 * somebody reads; then one filter and one merge put them in place, so a fleet that arrives or changes hands
 * one by one costs no insertion each.
 */
export class DeviceList {
  #sorted: Device[] = NO_DEVICES;
  #added: Set<Device> = NO_CHANGES;
  #removed: Set<Device> = NO_CHANGES;

  get size(): number {
    return this.#sorted.length + this.#added.size - this.#removed.size;
  }

  /** Adds a device that is not in the list. */
  add(device: Device): void {
    if (this.#removed.delete(device)) return;
    if (this.#added === NO_CHANGES) this.#added = new Set();
    this.#added.add(device);
  }

  /** Takes out a device that is in the list. */
  delete(device: Device): void {
    if (this.#added.delete(device)) return;
    if (this.#removed === NO_CHANGES) this.#removed = new Set();
    this.#removed.add(device);
    // Nobody may ever read again, and what is gone should not be held.
    if (this.#removed.size * 2 > this.#sorted.length) this.#takeOutRemoved();
  }

  sorted(): readonly Device[] {
    if (this.#removed.size > 0) this.#takeOutRemoved();
    if (this.#added.size > 0) {
      this.#sorted = merge(this.#sorted, [...this.#added].sort(byId));
      this.#added = NO_CHANGES;
    }
    return this.#sorted;
  }

  #takeOutRemoved(): void {
    this.#sorted = this.#sorted.filter((device) => !this.#removed.has(device));
    this.#removed = NO_CHANGES;
  }
}

/** Most lists are of a user with one device, and wait for no change: what they would hold is shared. */
const NO_DEVICES: Device[] = [];
const NO_CHANGES = new Set<Device>();

function byId(a: Device, b: Device): number {
  return compareUtf8(a.id, b.id);
}

function merge(a: readonly Device[], b: readonly Device[]): Device[] {
  const merged: Device[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) merged.push(byId(a[i]!, b[j]!) < 0 ? a[i++]! : b[j++]!);
  while (i < a.length) merged.push(a[i++]!);
  while (j < b.length) merged.push(b[j++]!);
  return merged;
}
