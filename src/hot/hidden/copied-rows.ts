import type { DeviceAlias } from "../../model/device-alias.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { AppDevices } from "../app-devices.ts";
import type { Copies } from "../devices/device-columns.ts";
import { type DayLedger, isWholeInMemory } from "../late/day-ledger.ts";
import type { RowRef } from "../records/long-track.ts";
import type { Aliases } from "./aliases.ts";

/** A device that shows as another, with its number among the aliased ones. */
export interface CopySource {
  readonly device: number;
  readonly alias: DeviceAlias;
}

/** A device that others show as. */
interface CopyTarget {
  readonly deviceId: DeviceId;
  /** By rank. */
  sources: readonly CopySource[];
  /** The aliases from which the sources are known. */
  version: number;
  /** Instants of unsealed days at which the device has a record of its own beside one of a source. */
  readonly own: Set<number>;
}

/**
 * Which records in memory of an app are copies of what devices reported that show as others. Only days that are not
 * sealed have copies: a read of the archive renames its records, with the late rows of such devices laid over them.
 */
export class CopiedRows implements Copies {
  readonly #app: AppDevices;
  readonly #aliased: AppDevices;
  readonly #aliases: Aliases;
  readonly #ledger: DayLedger;
  /** By number of the device among those that are visible. */
  readonly #targets = new Map<number, CopyTarget>();

  constructor(app: AppDevices, aliased: AppDevices, aliases: Aliases, ledger: DayLedger) {
    this.#app = app;
    this.#aliased = aliased;
    this.#aliases = aliases;
    this.#ledger = ledger;
  }

  /** Whether a record of a device is a copy. */
  has(device: number, timestampMs: number): boolean {
    const target = this.#targets.get(device);
    if (target === undefined || target.own.has(timestampMs)) return false;
    if (!isWholeInMemory(this.#ledger.at(timestampMs))) return false;
    if (this.#app.table.columns.corrected.has(device, timestampMs)) return false;
    return this.findSource(device, timestampMs) !== null;
  }

  sourceCount(device: number): number {
    return this.sourcesOf(device).length;
  }

  /** The devices that show as this one, by rank. */
  sourcesOf(device: number): readonly CopySource[] {
    const target = this.#targets.get(device);
    if (target === undefined) return [];
    if (target.version !== this.#aliases.version) this.#resolve(target);
    return target.sources;
  }

  /** The first record of an instant, by rank, of the devices that show as this one; null if there is none. */
  findSource(
    device: number,
    timestampMs: number,
    isEligible: (alias: DeviceAlias) => boolean = () => true,
  ): { readonly row: RowRef; readonly source: CopySource } | null {
    const { tracks } = this.#aliased.table.columns;
    for (const source of this.sourcesOf(device)) {
      const row = tracks.find(source.device, timestampMs);
      if (row !== null && isEligible(source.alias)) return { row, source };
    }
    return null;
  }

  /** Makes the devices known that show as this one. Call before any of their records is copied. */
  watch(device: number, deviceId: DeviceId): void {
    if (this.#targets.has(device)) return;
    if (this.#aliases.shownAs(deviceId).length === 0) return;
    this.#targets.set(device, { deviceId, sources: [], version: -1, own: new Set() });
  }

  /** Forgets a device that has no records in memory, or that no other device shows as. */
  unwatch(device: number): void {
    this.#targets.delete(device);
  }

  noteOwn(device: number, timestampMs: number): void {
    this.#targets.get(device)?.own.add(timestampMs);
  }

  /** Forgets what it knows of records of the devices' own in a range. */
  forgetOwn(startMs: number, endMs: number): void {
    for (const { own } of this.#targets.values())
      for (const timeMs of own) if (timeMs >= startMs && timeMs < endMs) own.delete(timeMs);
  }

  forgetOwnOf(device: number): void {
    this.#targets.get(device)?.own.clear();
  }

  #resolve(target: CopyTarget): void {
    target.version = this.#aliases.version;
    target.sources = this.#aliases
      .shownAs(target.deviceId)
      .map((alias) => ({ device: this.#aliased.findOrAdd(alias.deviceId), alias }));
  }
}
