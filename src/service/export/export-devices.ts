import type { AppDevices } from "../../hot/app-devices.ts";
import type { Device } from "../../hot/devices/device.ts";
import type { DeviceBlocks } from "../../hot/scan/memory-scan.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { DeviceId } from "../../model/ids.ts";

/** Some devices in the order of their ids. */
export class ListedDevices implements DeviceBlocks {
  readonly #devices: readonly Device[];

  constructor(devices: Iterable<Device>) {
    this.#devices = [...new Set(devices)].sort((a, b) => compareUtf8(a.id, b.id));
  }

  get size(): number {
    return this.#devices.length;
  }

  get ids(): DeviceId[] {
    return this.#devices.map(({ id }) => id);
  }

  blocks(): Iterable<readonly Device[]> {
    return this.#devices.length === 0 ? [] : [this.#devices];
  }

  behind(afterId: DeviceId | null, max: number): DeviceGroup {
    const rest = this.#devices.filter(({ id }) => afterId === null || compareUtf8(id, afterId) > 0);
    return { devices: rest.slice(0, max), lastId: rest.length > max ? rest[max - 1]!.id : null };
  }
}

/** Consecutive devices. */
export interface DeviceGroup {
  readonly devices: readonly Device[];
  /** Null if they are the last ones. */
  readonly lastId: DeviceId | null;
}

/** The next devices of an app, in steps. */
export function* devicesBehind(
  { list, table }: AppDevices,
  afterId: DeviceId | null,
  max: number,
): Steps<DeviceGroup> {
  while (!list.sortPending()) yield;
  const next = list.reader(afterId);
  const devices: Device[] = [];
  for (let block = next(); block !== null; block = next()) {
    for (const number of block.numbers) {
      if (devices.length === max) return { devices, lastId: devices.at(-1)!.id };
      devices.push(table.byNumber(number));
    }
  }
  return { devices, lastId: null };
}
