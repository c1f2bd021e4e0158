import { profileIndex } from "../../../model/location-fields.ts";
import type { RecordColumns } from "../../../model/record-columns.ts";

const USER = profileIndex("user_id");

/** Profiles whose redacted form is remembered. */
const PROFILES_MAX = 16_384;

/** Takes the names of devices and users out of records: devices are numbered in order of first appearance. */
export class Redaction {
  readonly #devices = new Map<string, string>();
  readonly #profiles = new Map<string, string>();

  redact(records: RecordColumns): RecordColumns {
    return {
      ...records,
      deviceIds: records.deviceIds.map((deviceId) => this.#deviceOf(deviceId)),
      profiles: records.profiles.map((profile) => this.#profileOf(profile)),
    };
  }

  #deviceOf(deviceId: string): string {
    let name = this.#devices.get(deviceId);
    if (name === undefined) {
      name = `device-${this.#devices.size + 1}`;
      this.#devices.set(deviceId, name);
    }
    return name;
  }

  #profileOf(profile: string): string {
    let redacted = this.#profiles.get(profile);
    if (redacted === undefined) {
      if (this.#profiles.size === PROFILES_MAX) this.#profiles.clear();
      const texts: unknown[] = JSON.parse(profile);
      redacted = JSON.stringify(texts.with(USER, null));
      this.#profiles.set(profile, redacted);
    }
    return redacted;
  }
}
