import { compareUtf8 } from "../../src/lib/text/utf8.ts";
import { type DeviceProfile, parseDeviceProfile } from "../../src/model/device-profile.ts";

/* The obvious way to hold device profiles of an app: a map, and a walk over it for each question. */

export type Members = Readonly<Record<string, unknown>>;

/** A device of an answer, as the model knows it. */
export interface ReferenceDevice {
  readonly device_id: string;
  readonly last_seen?: number;
}

export interface ReferenceProfiles {
  /** Sets a profile, or deletes it; returns whether that changes anything that is asked for by name. */
  set(deviceId: string, members: Members | null): void;
  /** The members as answers show them; null if the device has no profile. */
  find(deviceId: string): Members | null;
  nameOf(deviceId: string): string | undefined;
  /** All devices, those that reported with the time of their newest record. */
  list(lastSeen: ReadonlyMap<string, number>, filter: { text?: string; tag?: string }): Members[];
  readonly size: number;
}

export function createReferenceProfiles(): ReferenceProfiles {
  const profiles = new Map<string, Members>();
  return {
    set(deviceId, members) {
      if (members === null) profiles.delete(deviceId);
      else profiles.set(deviceId, shown(members));
    },
    find: (deviceId) => profiles.get(deviceId) ?? null,
    nameOf: (deviceId) => profiles.get(deviceId)?.name as string | undefined,
    list(lastSeen, { text = "", tag }) {
      const ids = [...new Set([...profiles.keys(), ...lastSeen.keys()])].sort(compareUtf8);
      return ids
        .map((device_id) => {
          const last_seen = lastSeen.get(device_id);
          const seen = last_seen === undefined ? {} : { last_seen };
          return { device_id, ...seen, ...profiles.get(device_id) } as Members;
        })
        .filter(({ device_id, name = "", tags = [] }) => {
          const has = (value: unknown) => String(value).toLowerCase().includes(text.toLowerCase());
          return (has(device_id) || has(name)) && (tag === undefined || (tags as string[]).includes(tag));
        });
    },
    get size() {
      return profiles.size;
    },
  };
}

/** What an answer shows: null members count as absent, a color is in lower case, a tag is there once. */
function shown(members: Members): Members {
  const present = Object.entries(members).filter(([, value]) => value !== null);
  return Object.fromEntries(
    present.flatMap(([name, value]): [string, unknown][] => {
      if (name === "color") return [[name, String(value).toLowerCase()]];
      if (name !== "tags") return [[name, value]];
      const tags = [...new Set(value as string[])];
      return tags.length === 0 ? [] : [[name, tags]];
    }),
  );
}

/** A profile of members that are known to be good. */
export function profileOf(members: Members): DeviceProfile {
  const parsed = parseDeviceProfile(members);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}
