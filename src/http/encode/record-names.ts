import type { DeviceProfiles } from "../../hot/device-profiles.ts";
import type { JsonWriter } from "../../lib/text/json-writer.ts";
import type { DeviceProfile, ProfileMembers } from "../../model/device-profile.ts";
import type { AppId } from "../../model/ids.ts";

/** What the map shows of a profile. Share links see it too, so it has no tags and no metadata. */
export type ShownProfile = Pick<ProfileMembers, "name" | "color" | "icon">;

/** What an answer adds to its records from the profiles of their devices. */
export interface NamesForm {
  /** For requests with `names=true`. */
  readonly withNames: boolean;
  /** For requests with `profiles=true`. */
  readonly withProfiles: boolean;
}

/** The members that a record gets from its device's profile. */
interface AddedMembers {
  readonly name?: string;
  readonly profile?: ShownProfile;
}

const NAMES_ALONE: NamesForm = { withNames: true, withProfiles: false };

/** Writes names of an app's devices into records, and the parts of profiles that the map shows. */
export class RecordNames {
  readonly #profiles: Pick<DeviceProfiles, "find">;
  readonly #appId: AppId;
  readonly form: NamesForm;

  constructor(profiles: Pick<DeviceProfiles, "find">, appId: AppId, form: NamesForm = NAMES_ALONE) {
    this.#profiles = profiles;
    this.#appId = appId;
    this.form = form;
  }

  /** Null if the device has none. */
  of(deviceId: string): string | null {
    return this.#find(deviceId)?.name ?? null;
  }

  /** Null if the map shows nothing of the device's profile. */
  profileOf(deviceId: string): ShownProfile | null {
    const profile = this.#find(deviceId);
    return profile === null ? null : shownProfile(profile);
  }

  /** What the record of a device gets. */
  membersOf(deviceId: string): AddedMembers {
    const name = this.form.withNames ? this.of(deviceId) : null;
    const profile = this.form.withProfiles ? this.profileOf(deviceId) : null;
    return { ...(name === null ? {} : { name }), ...(profile === null ? {} : { profile }) };
  }

  /** Adds these members as the last ones of an object that is being written. */
  write(json: JsonWriter, deviceId: string): void {
    const { name, profile } = this.membersOf(deviceId);
    if (name !== undefined) {
      json.text(',"name":');
      json.string(name);
    }
    if (profile !== undefined) {
      json.text(',"profile":');
      json.value(profile);
    }
  }

  #find(deviceId: string): DeviceProfile | null {
    return this.#profiles.find(this.#appId, deviceId);
  }
}

function shownProfile({ name, color, icon }: DeviceProfile): ShownProfile | null {
  if (name === null && color === null && icon === null) return null;
  return {
    ...(name === null ? {} : { name }),
    ...(color === null ? {} : { color }),
    ...(icon === null ? {} : { icon }),
  };
}
