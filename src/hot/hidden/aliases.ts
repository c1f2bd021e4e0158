import { type DeviceAlias, deviceOf, stageOf } from "../../model/device-alias.ts";
import type { DeviceId, UserId } from "../../model/ids.ts";

/** A device that a correction assigned as a whole. */
export interface AliasLink {
  /** The correction, and its number among those of the app. */
  readonly id: string;
  readonly number: number;
  /** For a device that is assigned to a user alone, its stage. */
  readonly toId: DeviceId;
  /** The user that its records show as; null keeps that of each record. */
  readonly userId: UserId | null;
}

const NONE: readonly DeviceAlias[] = [];

/**
 * The devices of an app that corrections assigned as a whole. Chains are followed: if A shows as B and later B as C,
 * then A shows as C, in the user of the last correction that names one. Of records of one instant, the nearest to the
 * device wins, and of devices that are equally near, the one that was assigned first.
 */
export class Aliases {
  /** In the order in which they were made. */
  readonly #links = new Map<DeviceId, AliasLink>();
  /** Null after a change, until it is needed. */
  #resolved: ResolvedAliases | null = null;
  /** Changes whenever an alias does. */
  version = 0;

  get size(): number {
    return this.#links.size;
  }

  /** The correction that assigned a device; null if there is none. */
  linkOf(deviceId: DeviceId): AliasLink | null {
    return this.#links.get(deviceId) ?? null;
  }

  /** Whether a device is assigned to a user alone. */
  hasStage(deviceId: DeviceId): boolean {
    const link = this.#links.get(deviceId);
    return link !== undefined && link.toId === stageOf(deviceId);
  }

  /** What a device shows as; null if it shows as itself. */
  of(deviceId: DeviceId): DeviceAlias | null {
    return this.#links.size === 0 ? null : (this.#now().byDevice.get(deviceId) ?? null);
  }

  /** The devices that some of these show as. */
  shownIds(deviceIds: Iterable<DeviceId>): ReadonlySet<DeviceId> {
    const ids = new Set<DeviceId>();
    for (const deviceId of deviceIds) {
      const alias = this.of(deviceId);
      if (alias !== null) ids.add(alias.shownId);
    }
    return ids;
  }

  /** The devices that show as this one, by rank. */
  shownAs(deviceId: DeviceId): readonly DeviceAlias[] {
    return this.#links.size === 0 ? NONE : (this.#now().byShown.get(deviceId) ?? NONE);
  }

  all(): readonly DeviceAlias[] {
    return this.#links.size === 0 ? NONE : this.#now().all;
  }

  add(deviceId: DeviceId, link: AliasLink): void {
    this.#links.set(deviceId, link);
    this.#noteChange();
  }

  remove(deviceId: DeviceId): void {
    this.#links.delete(deviceId);
    this.#noteChange();
  }

  #noteChange(): void {
    this.version++;
    this.#resolved = null;
  }

  #now(): ResolvedAliases {
    this.#resolved ??= resolve(this.#links);
    return this.#resolved;
  }
}

interface ResolvedAliases {
  readonly byDevice: ReadonlyMap<DeviceId, DeviceAlias>;
  readonly byShown: ReadonlyMap<DeviceId, readonly DeviceAlias[]>;
  readonly all: readonly DeviceAlias[];
}

function resolve(links: ReadonlyMap<DeviceId, AliasLink>): ResolvedAliases {
  const assigned = Map.groupBy(links, ([, { toId }]) => toId);
  const byShown = new Map<DeviceId, readonly DeviceAlias[]>();
  for (const lastId of assigned.keys()) {
    if (links.has(lastId)) continue;
    const shownId = deviceOf(lastId);
    const aliases: DeviceAlias[] = [];
    const start: Pick<DeviceAlias, "via" | "userId"> = { via: [lastId], userId: null };
    const rest = [{ deviceId: lastId, ...start }];
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
      const { deviceId: toId, via, userId } = next;
      if (toId !== lastId) aliases.push({ ...next, shownId, rank: aliases.length + 1 });
      const way = toId === lastId ? via : [toId, ...via];
      for (const [deviceId, link] of assigned.get(toId)?.toReversed() ?? [])
        rest.push({ deviceId, via: way, userId: userId ?? link.userId });
    }
    byShown.set(shownId, aliases);
  }
  const all = [...byShown.values()].flat();
  return { byDevice: new Map(all.map((alias) => [alias.deviceId, alias])), byShown, all };
}
