import { assert } from "../../lib/assert.ts";
import { type QuotaOwner, SharedPool } from "../../lib/schedule/shared-pool.ts";

/** Those of an app, or of all; and of those the one with this id in each group, or all. */
export interface AskedDevices {
  readonly appId: string | null;
  readonly deviceId: string | null;
}

/** Whose a slot is. */
export interface SlotOwner<Group extends string> {
  readonly appId: string;
  readonly group: Group;
  readonly deviceId: string;
  /** When it was seen last, Unix ms. */
  readonly seenMs: number;
}

/**
 * Small numbers for devices, in groups of an app's, so that what is kept of each lies in columns. There are so many
 * numbers and no more, in shares by app and key (`SharedPool`). A key that has its share may give a new device the
 * number of the one it was silent of for longest; so whoever invents devices loses his own alone.
 */
export class DeviceSlots<Group extends string> {
  readonly #max: number;
  /** How long a device must have been silent to lose its number to another. */
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

  /** Numbers that are taken. */
  get size(): number {
    return this.#pool.used;
  }

  find(appId: string, group: Group, deviceId: string): number | null {
    return this.#apps.get(appId)?.get(group)?.get(deviceId) ?? null;
  }

  /** The number of a device that was seen; null where it has none and can't get one. `onNew` before it is used. */
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
    assert(owner !== undefined && owner !== null, "the slot is taken");
    return owner;
  }

  /** Those asked for; others may be taken or freed meanwhile. */
  *taken({ appId, deviceId }: AskedDevices): Generator<number> {
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

/** A number that is taken, in the list of its key's. */
interface Owner<Group extends string> extends SlotOwner<Group> {
  readonly slot: number;
  readonly key: KeySlots<Group>;
  seenMs: number;
  before: Owner<Group> | null;
  after: Owner<Group> | null;
}

/** The numbers that a key came to, the one it was silent of for longest first: a list that is linked both ways. */
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
