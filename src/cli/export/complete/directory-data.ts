import type { OpenDirectory } from "../../../app/directory.ts";
import { presentCorrection } from "../../../http/endpoints/corrections/shapes.ts";
import { presentContent } from "../../../http/endpoints/quarantine/entry.ts";
import { presentEntry } from "../../../http/endpoints/quarantine/entry-shapes.ts";
import { fail, ok } from "../../../lib/result.ts";
import { profileMembers } from "../../../model/device-profile.ts";
import type { AppId } from "../../../model/ids.ts";
import type { Clock } from "../../../model/time/clock.ts";
import type { Platform } from "../../../runtime/platform.ts";
import { findKeys } from "./find-keys.ts";
import { failed, type PersonalData } from "./personal-data.ts";

interface Opened {
  readonly appId: AppId;
  readonly dataDir: string;
  readonly directory: OpenDirectory;
  readonly platform: Platform;
  readonly clock: Clock;
}

const ALL_MESSAGES = { client: null, reason: null, deviceId: null };

/** What an opened directory has about devices and users besides records. */
export function createDirectoryData({ appId, dataDir, directory, platform, clock }: Opened): PersonalData {
  const { hot, quarantine, exports } = directory;
  return {
    findApp: async () => ok(appId),
    async hasRecords(deviceId, originals) {
      const described = await exports.describe({
        appId,
        deviceIds: [deviceId],
        userId: null,
        originals,
        range: { startMs: 0, endMs: 0 },
        format: "ndjson",
        options: {
          zone: null,
          redact: false,
          recordSeparator: false,
          gapMs: 0,
          simplifyMeters: null,
        },
      });
      if (described.ok) return ok(true);
      const { kind } = described.error;
      return kind === "device_not_found" ? ok(false) : fail(failed(`The records can't be read: ${kind}.`));
    },
    async findProfile(deviceId) {
      const profile = hot.profiles.find(appId, deviceId);
      return ok(profile === null ? null : { ...profileMembers(profile) });
    },
    listCorrections: async () => ok(hot.corrections.list(appId, null, null).map(presentCorrection)),
    listRefused: async () =>
      ok(quarantine.list(appId, ALL_MESSAGES, 0, Number.POSITIVE_INFINITY).entries.map(presentEntry)),
    async findRefused(id) {
      const entry = await quarantine.find(appId, id);
      return ok(entry === null ? null : presentContent(entry, Number.POSITIVE_INFINITY));
    },
    bodyBytesMax: Number.POSITIVE_INFINITY,
    listKeys: () => findKeys(dataDir, platform, clock),
  };
}
