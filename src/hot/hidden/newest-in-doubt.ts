import type { AppId, DeviceId } from "../../model/ids.ts";

/** A device of an app, by the name that it reports. */
export interface DeviceInDoubt {
  readonly appId: AppId;
  readonly deviceId: DeviceId;
}

/**
 * Devices that may have a newer archived record than memory knows: it knows one of each, and a correction took that
 * away. What came after the correction may lie in the archive alone.
 */
export class NewestInDoubt {
  #devices = new Map<string, DeviceInDoubt>();

  add(appId: AppId, deviceId: DeviceId): void {
    this.#devices.set(`${appId} ${deviceId}`, { appId, deviceId });
  }

  /** Returns them, and forgets them. */
  take(): Iterable<DeviceInDoubt> {
    const devices = this.#devices.values();
    this.#devices = new Map();
    return devices;
  }
}
