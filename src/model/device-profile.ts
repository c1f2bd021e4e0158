import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";

/** What people say of a device: its name, how the map draws it, and what it belongs to. */
export interface DeviceProfile {
  readonly name: string | null;
  /** `#rrggbb`, in lower case. */
  readonly color: string | null;
  readonly icon: DeviceIcon | null;
  readonly tags: readonly string[];
  /** The text of a JSON object; null if there is none. */
  readonly metadata: string | null;
}

export const DEVICE_ICONS = [
  "bicycle",
  "boat",
  "box",
  "bus",
  "car",
  "motorcycle",
  "person",
  "pet",
  "phone",
  "plane",
  "scooter",
  "tractor",
  "train",
  "truck",
  "van",
] as const;

export type DeviceIcon = (typeof DEVICE_ICONS)[number];

export const NAME_CHARACTERS_MAX = 128;
export const TAGS_MAX = 20;
export const TAG_CHARACTERS_MAX = 64;
export const METADATA_BYTES_MAX = 4096;
export const METADATA_DEPTH_MAX = 8;
export const COLOR_PATTERN = /^#[0-9A-Fa-f]{6}$/;

/** The bytes of all profiles of an app, each counted as its id, its members as JSON, and `PROFILE_OVERHEAD_BYTES`. */
export const PROFILES_BYTES_MAX = 64 * 1024 * 1024;
/** A million devices with names fit one app. */
export const PROFILE_OVERHEAD_BYTES = 32;

const MEMBERS: readonly string[] = [
  "name",
  "color",
  "icon",
  "tags",
  "metadata",
] satisfies (keyof DeviceProfile)[];

/** Parses the members of a JSON object, of which null counts as absent. The error is a sentence. */
export function parseDeviceProfile(
  members: Readonly<Record<string, unknown>>,
): Result<DeviceProfile, string> {
  const stranger = Object.keys(members).find((name) => !MEMBERS.includes(name));
  if (stranger !== undefined) return fail(`a profile has ${MEMBERS.join(", ")}, and no other members`);
  const { name = null, color = null, icon = null, tags = null, metadata = null } = members;
  if (name !== null && !isText(name, NAME_CHARACTERS_MAX))
    return fail(`name must be 1 to ${NAME_CHARACTERS_MAX} characters, none of them control characters`);
  if (color !== null && !(typeof color === "string" && COLOR_PATTERN.test(color)))
    return fail("color must be # and six hexadecimal digits");
  const knownIcon = DEVICE_ICONS.find((each) => each === icon) ?? null;
  if (icon !== null && knownIcon === null) return fail(`icon must be one of ${DEVICE_ICONS.join(", ")}`);
  const areTags = tags === null || (Array.isArray(tags) && tags.length <= TAGS_MAX);
  if (!areTags || !(tags ?? []).every((tag: unknown) => isText(tag, TAG_CHARACTERS_MAX)))
    return fail(
      `tags must be at most ${TAGS_MAX} texts of 1 to ${TAG_CHARACTERS_MAX} characters, none of them control characters`,
    );
  if (metadata !== null && !isObject(metadata)) return fail("metadata must be a JSON object");
  if (depthOf(metadata, METADATA_DEPTH_MAX + 1) > METADATA_DEPTH_MAX)
    return fail(`metadata must be nested at most ${METADATA_DEPTH_MAX} deep`);
  const metadataText = metadata === null ? null : JSON.stringify(metadata);
  if (metadataText !== null && utf8.encode(metadataText).length > METADATA_BYTES_MAX)
    return fail(`metadata must be at most ${METADATA_BYTES_MAX / 1024} KB as JSON`);
  return ok({
    name,
    color: color === null ? null : color.toLowerCase(),
    icon: knownIcon,
    tags: [...new Set((tags ?? []) as readonly string[])],
    metadata: metadataText,
  });
}

/** The members of a profile as answers show them; those that it lacks are absent. */
export interface ProfileMembers {
  readonly name?: string;
  readonly color?: string;
  readonly icon?: DeviceIcon;
  readonly tags?: readonly string[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export function profileMembers({ name, color, icon, tags, metadata }: DeviceProfile): ProfileMembers {
  return {
    ...(name === null ? {} : { name }),
    ...(color === null ? {} : { color }),
    ...(icon === null ? {} : { icon }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(metadata === null ? {} : { metadata: JSON.parse(metadata) as Record<string, unknown> }),
  };
}

const utf8 = new TextEncoder();

const TEXT = /^[^\u0000-\u001f\u007f-\u009f]+$/;

/** Whether a value is a text without control characters, of 1 to `charactersMax` characters. */
export function isText(value: unknown, charactersMax: number): value is string {
  return (
    typeof value === "string" && value.length <= charactersMax && TEXT.test(value) && value.isWellFormed()
  );
}

/** How deep objects and lists are nested, counted up to `most`. */
function depthOf(value: unknown, most: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (most === 1) return 1;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, most - 1));
  return 1 + deepest;
}
