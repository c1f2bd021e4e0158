import type { DeviceIcon } from "../devices/device-icons.ts";
import type { DeviceLook } from "../devices/device-table.ts";

/* A device's profile while a user edits it. The server has the same limits (`model/device-profile.ts`). */

export const NAME_CHARACTERS_MAX = 128;
export const TAG_CHARACTERS_MAX = 64;
export const TAGS_MAX = 20;

/** A profile as the server has it. */
export interface StoredProfile extends DeviceLook {
  readonly tags?: readonly string[];
  /** The page does not show it, and stores it again as it is. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ProfileDraft {
  readonly name: string;
  readonly color: string | null;
  readonly icon: DeviceIcon | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** The draft of a stored profile, or of a new one. */
export function draftOf(stored: StoredProfile | null): ProfileDraft {
  const { name = "", color = null, icon = null, tags = [], metadata = null } = stored ?? {};
  return { name, color, icon, tags, metadata };
}

/** What is stored of a draft; null if nothing is in it. */
export function storedOf(draft: ProfileDraft): StoredProfile | null {
  const { tags, metadata } = draft;
  const stored: StoredProfile = {
    ...lookOf(draft),
    ...(tags.length === 0 ? {} : { tags }),
    ...(metadata === null ? {} : { metadata }),
  };
  return Object.keys(stored).length === 0 ? null : stored;
}

/** How the page shows the device with this draft; null if it has no name, color or icon. */
export function lookOf({ name, color, icon }: ProfileDraft): DeviceLook | null {
  const tidyName = tidy(name, NAME_CHARACTERS_MAX);
  if (tidyName === "" && color === null && icon === null) return null;
  return {
    ...(tidyName === "" ? {} : { name: tidyName }),
    ...(color === null ? {} : { color }),
    ...(icon === null ? {} : { icon }),
  };
}

/** The draft with the tags in a text, which commas separate. Tags beyond the limit are left out. */
export function withTags(draft: ProfileDraft, text: string): ProfileDraft {
  const added = text
    .split(",")
    .map((tag) => tidy(tag, TAG_CHARACTERS_MAX))
    .filter((tag) => tag !== "");
  return { ...draft, tags: [...new Set([...draft.tags, ...added])].slice(0, TAGS_MAX) };
}

export function withoutTag(draft: ProfileDraft, tag: string): ProfileDraft {
  return { ...draft, tags: draft.tags.filter((each) => each !== tag) };
}

/** One line without blanks around it. The server refuses control characters and halves of a character. */
function tidy(text: string, charactersMax: number): string {
  return text
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ")
    .trim()
    .slice(0, charactersMax)
    .replace(/\p{Surrogate}/gu, "")
    .trim();
}
