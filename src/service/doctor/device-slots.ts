import { assert } from "../../lib/assert.ts";
import { type QuotaOwner, SharedPool } from "../../lib/schedule/shared-pool.ts";

/** Selects devices of one app or of all apps, and of those the one with an id in each group, or all. */
export interface DeviceSelection {
  readonly appId: string | null;
  readonly deviceId: string | null;
}

/** The owner of a slot. */
export interface SlotOwner<Group extends string> {
  readonly appId: string;
  readonly group: Group;
  readonly deviceId: string;
  /** When the device was last seen, Unix ms. */
  readonly seenMs: number;
}

/**
 * Numbers devices, in groups within an app, so that their data lies in columns. The numbers are limited, in shares by
 * app and key (`SharedPool`). If a key has used its share, a new device gets the slot of the key's longest silent one,
 * so a key that invents devices evicts only its own.
 */
export class DeviceSlots<Group extends string> {
  readonly #max: number;
  /** How long a device must have been silent before another one gets its slot. */
  readonly #idleMsMin: number;
  readonly #pool: SharedPool;
  readonly #apps = new Map<string, Map<Group, Map<string, number>>>();
  readonly #owners: (Owner<Group> | null)[] = [];
  readonly #free: number[] = [];
  readonly #keys = new Map<string, KeySlots<Group>>();

  constructor(max: number, idleMsMin: number) {
    this.#max = max;
    this.#idleMsMin = idleMsMin;
    this.#pool = new SharedPool(max);
  }

  /** Slots in use. */
  get size(): number {
    return this.#pool.used;
  }

  find(appId: string, group: Group, deviceId: string): number | null {
    return this.#apps.get(appId)?.get(group)?.get(deviceId) ?? null;
  }

  /** The slot of a device; null if it has none and can't get one. Calls `onNew` before a new slot is used. */
  see(
    holder: QuotaOwner,
    group: Group,
    deviceId: string,
    nowMs: number,
    onNew: (slot: number) => void,
  ): number | null {
    const known = this.#apps.get(holder.appId)?.get(group)?.get(deviceId);
    if (known !== undefined) {
      const owner = this.#owners[known]!;
      owner.seenMs = nowMs;
      owner.key.moveToEnd(owner);
      return known;
    }
    const slot = this.#take(holder, nowMs);
    if (slot === null) return null;
    this.#add(slot, holder, group, deviceId, nowMs);
    onNew(slot);
    return slot;
  }

  ownerOf(slot: number): SlotOwner<Group> {
    const owner = this.#owners[slot];
    assert(owner !== undefined && owner !== null, "the slot is in use");
    return owner;
  }

  /** The slots of selected devices; others may be added or removed meanwhile. */
  *usedBy({ appId, deviceId }: DeviceSelection): Generator<number> {
    const apps = appId === null ? this.#apps.values() : [this.#apps.get(appId)];
    for (const groups of apps) {
      for (const devices of groups?.values() ?? []) {
        if (deviceId === null) yield* devices.values();
        else if (devices.has(deviceId)) yield devices.get(deviceId)!;
      }
    }
  }

  free(slot: number): void {
    const owner = this.#owners[slot]!;
    const { appId, group, deviceId, key } = owner;
    const groups = this.#apps.get(appId)!;
    const devices = groups.get(group)!;
    devices.delete(deviceId);
    if (devices.size === 0) groups.delete(group);
    if (groups.size === 0) this.#apps.delete(appId);
    key.remove(owner);
    if (key.isEmpty) this.#keys.delete(key.name);
    this.#owners[slot] = null;
    this.#free.push(slot);
    this.#pool.give(key.holder, 1);
  }

  #take(holder: QuotaOwner, nowMs: number): number | null {
    if (!this.#pool.take(holder, 1)) {
      const oldest = this.#keys.get(nameOf(holder))?.oldest ?? null;
      if (oldest === null || nowMs - oldest.seenMs < this.#idleMsMin) return null;
      this.free(oldest.slot);
      if (!this.#pool.take(holder, 1)) return null;
    }
    return this.#free.pop() ?? this.#owners.push(null) - 1;
  }

  #add(slot: number, holder: QuotaOwner, group: Group, deviceId: string, nowMs: number): void {
    assert(slot < this.#max, "there are no more numbers than devices");
    const name = nameOf(holder);
    const key = this.#keys.get(name) ?? new KeySlots<Group>(name, holder);
    this.#keys.set(name, key);
    const { appId } = holder;
    const owner: Owner<Group> = {
      slot,
      appId,
      deviceId,
      group,
      key,
      seenMs: nowMs,
      before: null,
      after: null,
    };
    key.append(owner);
    this.#owners[slot] = owner;
    const groups = this.#apps.get(appId) ?? new Map<Group, Map<string, number>>();
    this.#apps.set(appId, groups);
    const devices = groups.get(group) ?? new Map<string, number>();
    groups.set(group, devices);
    devices.set(deviceId, slot);
  }
}

function nameOf({ appId, keyId }: QuotaOwner): string {
  return `${appId}/${keyId}`;
}

/** A slot in use, in the list of its key. */
interface Owner<Group extends string> extends SlotOwner<Group> {
  readonly slot: number;
  readonly key: KeySlots<Group>;
  seenMs: number;
  before: Owner<Group> | null;
  after: Owner<Group> | null;
}

/** The slots of a key, the longest silent first: a doubly linked list. */
class KeySlots<Group extends string> {
  readonly name: string;
  readonly holder: QuotaOwner;
  oldest: Owner<Group> | null = null;
  #newest: Owner<Group> | null = null;

  constructor(name: string, { appId, keyId }: QuotaOwner) {
    this.name = name;
    this.holder = { appId, keyId };
  }

  get isEmpty(): boolean {
    return this.oldest === null;
  }

  append(owner: Owner<Group>): void {
    owner.before = this.#newest;
    owner.after = null;
    if (this.#newest === null) this.oldest = owner;
    else this.#newest.after = owner;
    this.#newest = owner;
  }

  remove(owner: Owner<Group>): void {
    if (owner.before === null) this.oldest = owner.after;
    else owner.before.after = owner.after;
    if (owner.after === null) this.#newest = owner.before;
    else owner.after.before = owner.before;
  }

  moveToEnd(owner: Owner<Group>): void {
    if (owner === this.#newest) return;
    this.remove(owner);
    this.append(owner);
  }
}
