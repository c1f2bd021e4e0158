import { assert } from "../lib/assert.ts";
import { type Steps, sortInSteps } from "../lib/schedule/steps.ts";
import { compareUtf8 } from "../lib/text/utf8.ts";
import { type DeviceProfile, PROFILE_OVERHEAD_BYTES, profileMembers } from "../model/device-profile.ts";
import type { AppId, DeviceId } from "../model/ids.ts";
import type { DeviceProfileEntry } from "../model/standing-entry.ts";

interface HeldProfile {
  readonly profile: DeviceProfile;
  readonly bytes: number;
}

/** The profiles of one app's devices. */
class ProfilesOfApp {
  /** In the order of the log: a profile that is replaced moves to the end. */
  readonly byDevice = new Map<DeviceId, HeldProfile>();
  bytes = 0;
  /** The last entry that changed any of them. */
  sequence = 0;
  /** The ids by their UTF-8 bytes; null if that must be found out anew. */
  sortedIds: readonly DeviceId[] | null = null;
}

/**
 * The profiles of devices, by app. A device need not have reported, and its profile stays when its records expire.
 * They change only by entries of the log, so replay and live traffic build the same.
 */
export class DeviceProfiles {
  readonly #byApp = new Map<AppId, ProfilesOfApp>();
  /** The last entry that is in here, or in the archive's file from which these were restored. */
  #sequence = 0;

  get sequence(): number {
    return this.#sequence;
  }

  /** The profiles of all apps. */
  get count(): number {
    let count = 0;
    for (const { byDevice } of this.#byApp.values()) count += byDevice.size;
    return count;
  }

  get bytes(): number {
    let bytes = 0;
    for (const app of this.#byApp.values()) bytes += app.bytes;
    return bytes;
  }

  find(appId: AppId, deviceId: string): DeviceProfile | null {
    return this.#byApp.get(appId)?.byDevice.get(deviceId as DeviceId)?.profile ?? null;
  }

  countOf(appId: AppId): number {
    return this.#byApp.get(appId)?.byDevice.size ?? 0;
  }

  /** The bytes of an app's profiles, which are limited. */
  bytesOf(appId: AppId): number {
    return this.#byApp.get(appId)?.bytes ?? 0;
  }

  /** The last entry that changed a profile of the app; 0 if there was none since the start. */
  sequenceOf(appId: AppId): number {
    return this.#byApp.get(appId)?.sequence ?? 0;
  }

  /** The devices of the app that have a profile, by the UTF-8 bytes of their ids. */
  *sortedIds(appId: AppId): Steps<readonly DeviceId[]> {
    const app = this.#byApp.get(appId);
    if (app === undefined) return [];
    if (app.sortedIds !== null) return app.sortedIds;
    const { sequence } = app;
    const sorted = yield* sortInSteps([...app.byDevice.keys()], compareUtf8);
    if (app.sequence === sequence) app.sortedIds = sorted;
    return sorted;
  }

  /** Puts a profile of the archive back, before any entry of the log. A later one of the same device counts. */
  restore(entry: DeviceProfileEntry): void {
    assert(this.#sequence === 0, "profiles are restored before the log is read");
    this.#set(entry);
  }

  /** Ends the restoring: entries up to this one are in here. */
  endRestore(sequence: number): void {
    this.#sequence = sequence;
  }

  /** Applies an entry of the log, unless the archive's file had it. */
  apply(entry: DeviceProfileEntry, sequence: number): void {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    this.#set(entry).sequence = sequence;
  }

  /** Forgets the profiles of devices for an entry of the log, unless the archive's file was written after it. */
  erase(appId: AppId, deviceIds: readonly DeviceId[], sequence: number): void {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    for (const deviceId of deviceIds)
      this.#set({ kind: "device_profile", appId, deviceId, profile: null }).sequence = sequence;
  }

  /**
   * Every profile as the entry that stands, in the order of the log for each app. May be read in steps while entries
   * are applied: then it may have a device twice, whose later entry counts, and changes that came meanwhile.
   */
  *entries(): Iterable<DeviceProfileEntry> {
    for (const [appId, { byDevice }] of this.#byApp)
      for (const [deviceId, { profile }] of byDevice)
        yield { kind: "device_profile", appId, deviceId, profile };
  }

  #set({ appId, deviceId, profile }: DeviceProfileEntry): ProfilesOfApp {
    let app = this.#byApp.get(appId);
    if (app === undefined) {
      app = new ProfilesOfApp();
      this.#byApp.set(appId, app);
    }
    const before = app.byDevice.get(deviceId);
    if ((before === undefined) === (profile !== null)) app.sortedIds = null; // A device more or less.
    app.bytes -= before?.bytes ?? 0;
    app.byDevice.delete(deviceId);
    if (profile !== null) {
      const bytes = profileBytes(deviceId, profile);
      app.byDevice.set(deviceId, { profile, bytes });
      app.bytes += bytes;
    }
    return app;
  }
}

const utf8 = new TextEncoder();

/** What a profile counts of its app's share. */
export function profileBytes(deviceId: DeviceId, profile: DeviceProfile): number {
  const json = JSON.stringify(profileMembers(profile));
  return utf8.encode(deviceId).length + utf8.encode(json).length + PROFILE_OVERHEAD_BYTES;
}
