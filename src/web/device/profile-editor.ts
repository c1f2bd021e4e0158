import type { nothing, TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import type { DeviceLook } from "../devices/device-table.ts";
import { type EditedProfile, profileDialog } from "./profile-dialog.ts";
import {
  draftOf,
  lookOf,
  type ProfileDraft,
  type StoredProfile,
  storedOf,
  withoutTag,
  withTags,
} from "./profile-draft.ts";

/** The used part of the page. */
export interface ProfileEditorParts {
  readonly api: Pick<Api, "get" | "send" | "retries">;
  readonly table: { setLook(id: string, look: DeviceLook | null): void };
  readonly changed: () => void;
}

/** Edits the profile of a device: its name, color, icon and tags. Its code is loaded when a user first opens it. */
export class ProfileEditor implements EditedProfile {
  readonly #parts: ProfileEditorParts;
  #deviceId: string | null = null;
  #draft: ProfileDraft | null = null;
  #loading = new AbortController();
  /** Whether the server has a profile of the device. */
  isStored = false;
  isSaving = false;
  /** Why the profile can't be loaded or stored. */
  fault: string | null = null;
  /** What the user has typed of the next tag. */
  tagText = "";

  constructor(parts: ProfileEditorParts) {
    this.#parts = parts;
  }

  get deviceId(): string | null {
    return this.#deviceId;
  }

  get draft(): ProfileDraft | null {
    return this.#draft;
  }

  async open(deviceId: string): Promise<void> {
    this.close();
    this.#deviceId = deviceId;
    this.#parts.changed();
    const { signal } = this.#loading;
    const onPause = (error: ApiError) => {
      this.fault = retryingSentenceOf(error);
      this.#parts.changed();
    };
    try {
      const { retries } = this.#parts.api;
      const stored = await retries.ask(() => this.#find(deviceId, signal), { signal, onPause });
      if (signal.aborted) return;
      this.isStored = stored !== null;
      this.#draft = draftOf(stored);
      this.fault = null;
    } catch (error) {
      if (signal.aborted) return;
      this.fault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  close(): void {
    this.#loading.abort();
    this.#loading = new AbortController();
    this.#deviceId = null;
    this.#draft = null;
    this.isStored = false;
    this.isSaving = false;
    this.fault = null;
    this.tagText = "";
    this.#parts.changed();
  }

  /** Changes what is edited. */
  set(changes: Partial<Pick<ProfileDraft, "name" | "color" | "icon">>): void {
    this.#change((draft) => ({ ...draft, ...changes }));
  }

  typeTag(text: string): void {
    this.tagText = text;
    if (text.includes(",")) this.addTag();
    else this.#parts.changed();
  }

  /** Adds the typed tag. */
  addTag(): void {
    const text = this.tagText;
    this.tagText = "";
    this.#change((draft) => withTags(draft, text));
  }

  removeTag(tag: string): void {
    this.#change((draft) => withoutTag(draft, tag));
  }

  /** Stores the draft, with a tag that is still being typed; returns whether that succeeded. */
  save(): Promise<boolean> {
    this.addTag();
    const draft = this.#draft;
    const stored = draft === null ? null : storedOf(draft);
    if (draft === null || stored === null) return this.remove();
    return this.#store(lookOf(draft), async (path) => {
      await this.#parts.api.send("PUT", path, stored);
    });
  }

  /** Removes the whole profile; returns whether that succeeded. */
  remove(): Promise<boolean> {
    return this.#store(null, async (path) => {
      try {
        await this.#parts.api.send("DELETE", path);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    });
  }

  dialog(): TemplateResult | typeof nothing {
    return profileDialog(this);
  }

  async #find(deviceId: string, signal: AbortSignal): Promise<StoredProfile | null> {
    try {
      const { profile } = await this.#parts.api.get<{ readonly profile: StoredProfile }>(
        pathOf(deviceId),
        {},
        signal,
      );
      return profile;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async #store(look: DeviceLook | null, send: (path: string) => Promise<void>): Promise<boolean> {
    const { table, changed } = this.#parts;
    const deviceId = this.#deviceId;
    const { signal } = this.#loading;
    if (deviceId === null || this.isSaving) return false;
    this.isSaving = true;
    this.fault = null;
    changed();
    try {
      await send(pathOf(deviceId));
      if (signal.aborted) return false; // The user has closed the dialog, or signed out.
      table.setLook(deviceId, look); // The live stream says so too, soon.
      return true;
    } catch (error) {
      if (!signal.aborted) this.fault = sentenceOf(error);
      return false;
    } finally {
      if (!signal.aborted) this.isSaving = false;
      changed();
    }
  }

  #change(change: (draft: ProfileDraft) => ProfileDraft): void {
    if (this.#draft === null) return;
    this.#draft = change(this.#draft);
    this.#parts.changed();
  }
}

function pathOf(deviceId: string): string {
  return `/api/v1/devices/${encodeURIComponent(deviceId)}/profile`;
}

/** Whether our server has no profile of the device. */
function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.isRefusal && error.status === 404;
}
