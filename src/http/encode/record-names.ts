import type { DeviceProfiles } from "../../hot/device-profiles.ts";
import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { AppId } from "../../model/ids.ts";

/** Writes the names of an app's devices into records, for requests with `names=true`. */
export class RecordNames {
  readonly #profiles: Pick<DeviceProfiles, "find">;
  readonly #appId: AppId;

  constructor(profiles: Pick<DeviceProfiles, "find">, appId: AppId) {
    this.#profiles = profiles;
    this.#appId = appId;
  }

  /** Null if the device has none. */
  of(deviceId: string): string | null {
    return this.#profiles.find(this.#appId, deviceId)?.name ?? null;
  }

  /** Adds the name as the last member of an object that is being written. */
  write(json: JsonWriter, deviceId: string): void {
    const name = this.of(deviceId);
    if (name === null) return;
    json.text(',"name":');
    json.string(name);
  }
}
