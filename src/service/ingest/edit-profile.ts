import { profileBytes } from "../../hot/device-profiles.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, type Result } from "../../lib/result.ts";
import { type DeviceProfile, PROFILES_BYTES_MAX } from "../../model/device-profile.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { refusalError } from "./ingest.ts";
import type { StandingAppend } from "./standing-append.ts";

/** Sets or deletes (null) the profile of a device. Resolves with the entry of the log once the profile is visible. */
export type EditProfile = (
  appId: AppId,
  deviceId: DeviceId,
  profile: DeviceProfile | null,
) => Promise<Result<number, ServiceError>>;

export interface EditProfileDependencies {
  readonly append: StandingAppend;
  readonly hot: Pick<HotStore, "profiles">;
  /** Defaults to `PROFILES_BYTES_MAX`. */
  readonly bytesMax?: number;
}

/**
 * Profiles are stored like reports: first in the log, then in memory, then the client is answered. An app's share is
 * checked by the node that is asked, so nodes together may exceed it by what is under way.
 */
export function createEditProfile(dependencies: EditProfileDependencies): EditProfile {
  const { append, hot, bytesMax = PROFILES_BYTES_MAX } = dependencies;
  /** Bytes of profiles that memory does not show yet, by app. */
  const underWay = new Map<AppId, number>();

  return async function editProfile(appId, deviceId, profile) {
    const bytes = profile === null ? 0 : profileBytes(deviceId, profile);
    const known = hot.profiles.find(appId, deviceId);
    const replaced = known === null ? 0 : profileBytes(deviceId, known);
    const waiting = underWay.get(appId) ?? 0;
    if (profile !== null && hot.profiles.bytesOf(appId) - replaced + waiting + bytes > bytesMax)
      return fail({ kind: "too_many_profiles", bytesMax });
    underWay.set(appId, waiting + bytes);
    try {
      const appended = await append({ kind: "device_profile", appId, deviceId, profile });
      return appended.ok ? appended : fail(refusalError(appended.error));
    } finally {
      const others = (underWay.get(appId) ?? 0) - bytes;
      if (others > 0) underWay.set(appId, others);
      else underWay.delete(appId);
    }
  };
}
