import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { deviceBadge, deviceIcon } from "../devices/device-badge.ts";
import { DEVICE_ICONS, type DeviceIcon, iconLabel } from "../devices/device-icons.ts";
import { colorChoices } from "../shell/color-choices.ts";
import { dialog } from "../shell/dialog.ts";
import { skeletonLines } from "../shell/skeleton.ts";
import {
  lookOf,
  NAME_CHARACTERS_MAX,
  type ProfileDraft,
  TAG_CHARACTERS_MAX,
  TAGS_MAX,
} from "./profile-draft.ts";

/** What is edited, and what the dialog does with it. */
export interface EditedProfile {
  /** Null while the dialog is closed. */
  readonly deviceId: string | null;
  /** Null until the profile is loaded. */
  readonly draft: ProfileDraft | null;
  readonly isStored: boolean;
  readonly isSaving: boolean;
  readonly fault: string | null;
  readonly tagText: string;
  set(changes: Partial<Pick<ProfileDraft, "name" | "color" | "icon">>): void;
  typeTag(text: string): void;
  addTag(): void;
  removeTag(tag: string): void;
  save(): Promise<boolean>;
  remove(): Promise<boolean>;
  close(): void;
}

const ICONS = Object.keys(DEVICE_ICONS) as DeviceIcon[];

const SKELETON_LINES = 6;

/** The dialog for the name, the color, the icon and the tags of a device. */
export function profileDialog(editor: EditedProfile): TemplateResult | typeof nothing {
  const { deviceId, draft, fault } = editor;
  if (deviceId === null) return nothing;
  const alert = fault === null ? nothing : html`<p class="fault" role="alert">${fault}</p>`;
  const body =
    draft === null
      ? html`${alert} ${fault === null ? skeletonLines(SKELETON_LINES) : nothing}`
      : html`<form class="profile-form" @submit=${(event: Event) => submit(event, () => editor.save())}>
          ${preview(deviceId, draft)} ${nameField(deviceId, draft, editor)} ${colorChoices(draft.color, (color) => editor.set({ color }))}
          ${icons(draft, editor)} ${tags(draft, editor)} ${alert}
          <div class="profile-buttons">
            <button class="primary" ?disabled=${editor.isSaving}>Save</button>
            ${
              editor.isStored
                ? html`<button type="button" ?disabled=${editor.isSaving}
                    @click=${(event: Event) => submit(event, () => editor.remove())}>Remove all of this</button>`
                : nothing
            }
          </div>
        </form>`;
  return dialog({ name: "profile", title: "Edit device", body, closed: () => editor.close() });
}

/** Closes the dialog once the server has stored the change. */
async function submit(event: Event, store: () => Promise<boolean>): Promise<void> {
  event.preventDefault();
  const element = (event.currentTarget as HTMLElement).closest("dialog");
  if (await store()) element?.close();
}

/** How the device will be shown. */
function preview(deviceId: string, draft: ProfileDraft): TemplateResult {
  const look = lookOf(draft);
  return html`<p class="profile-preview">
    <strong class="name">${deviceBadge(look)}${look?.name ?? deviceId}</strong>
    ${look?.name === undefined ? nothing : html`<span class="id soft">${deviceId}</span>`}
  </p>`;
}

function nameField(deviceId: string, { name }: ProfileDraft, editor: EditedProfile): TemplateResult {
  return html`<label class="profile-name">Name
    <input maxlength=${NAME_CHARACTERS_MAX} autocomplete="off" placeholder=${deviceId} .value=${live(name)}
      @input=${(event: Event) => editor.set({ name: textIn(event) })}></label>`;
}

function icons({ icon }: ProfileDraft, editor: EditedProfile): TemplateResult {
  const choice = (value: DeviceIcon | null) => html`<label class="icon-choice">
    <input type="radio" name="icon" .checked=${live(value === icon)} @change=${() => editor.set({ icon: value })}>
    ${value === null ? nothing : deviceIcon(value)}<span>${value === null ? "None" : iconLabel(value)}</span></label>`;
  return html`<fieldset>
    <legend>Icon</legend>
    <div class="icon-choices">${choice(null)} ${ICONS.map(choice)}</div>
  </fieldset>`;
}

function tags(draft: ProfileDraft, editor: EditedProfile): TemplateResult {
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || editor.tagText.trim() === "") return;
    event.preventDefault();
    editor.addTag();
  };
  return html`<fieldset>
    <legend>Tags</legend>
    ${
      draft.tags.length === 0
        ? nothing
        : html`<ul class="chips">
      ${draft.tags.map(
        (tag) => html`<li><span class="name">${tag}</span>
        <button type="button" class="quiet" aria-label="Remove ${tag}" @click=${() => editor.removeTag(tag)}>✕</button></li>`,
      )}
    </ul>`
    }
    <input aria-label="Add a tag" placeholder="Add a tag, then Enter" autocomplete="off" maxlength=${TAG_CHARACTERS_MAX}
      ?disabled=${draft.tags.length >= TAGS_MAX} .value=${live(editor.tagText)} @keydown=${enter}
      @input=${(event: Event) => editor.typeTag(textIn(event))}>
  </fieldset>`;
}

function textIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement).value;
}
