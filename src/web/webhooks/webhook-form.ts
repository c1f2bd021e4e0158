import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { choiceChips } from "../items/choice-chips.ts";
import { checkbox, deleteDialog, faultBeside, itemForm, textField, textIn } from "../items/form-fields.ts";
import { faultNote } from "../shell/fault-note.ts";
import { HEADERS_MAX, type HeaderDraft, type WebhookDraft } from "./webhook-draft.ts";
import { filterTexts, KINDS } from "./webhook-texts.ts";
import type { Webhooks } from "./webhooks.ts";

const URL_CHARACTERS_MAX = 2048;
const HEADER_NAME_CHARACTERS_MAX = 64;
const HEADER_VALUE_CHARACTERS_MAX = 1024;

const WATCHES = { noun: "geofence or alert", showsIds: false };

/** The form of a new webhook, or of one that is there. */
export function webhookForm(webhooks: Webhooks, draft: WebhookDraft): TemplateResult {
  const { editor } = webhooks;
  const { fault } = editor;
  const { url, name, types } = draft;
  const urlField = { name: "url", label: "Address", fault, value: url };
  const nameField = { name: "name", label: "Name", fault, value: name };
  const toggle = (kind: string, isOn: boolean) =>
    editor.set((before) => {
      const next = KINDS.filter((each) => (each.kind === kind ? isOn : before.types.includes(each.kind)));
      return { types: next.map((each) => each.kind) };
    }, "types");
  const fields = html`${textField(
    { ...urlField, set: (text) => editor.set({ url: text }, "url") },
    { charactersMax: URL_CHARACTERS_MAX, type: "url", placeholder: "https://" },
  )}
    ${textField({ ...nameField, set: (text) => editor.set({ name: text }, "name") })}
    <fieldset class="item-days">
      <legend>Events</legend>
      ${KINDS.map(({ kind, label }) => checkbox(label, types.includes(kind), (isOn) => toggle(kind, isOn)))}
    </fieldset>
    ${faultBeside(fault, "types")}
    ${choiceChips(webhooks.devices, "Only of these devices")} ${faultBeside(fault, "devices")}
    ${choiceChips(webhooks.watches, "Only of these geofences and alerts", WATCHES)}
    ${webhooks.watches.fault === null ? nothing : faultNote(webhooks.watches.fault, null)}
    ${faultBeside(fault, "watches")} ${otherFilters(draft)}
    ${checkbox("What becomes known a day late, too", draft.isLate, (isLate) => editor.set({ isLate }, "late"))}
    <details ?open=${fault?.member === "headers"}>
      <summary>Headers</summary>
      ${headers(webhooks, draft)} ${faultBeside(fault, "headers")}
    </details>`;
  const consequence = "Nothing more is sent to it. Its secret and its deliveries are deleted, too.";
  return html`${itemForm({ editor, draft, fields, cancel: () => webhooks.leave() })}
    ${deleteDialog(editor, { noun: "webhook", name, consequence })}`;
}

/** Filters that other programs have set; they stay. */
function otherFilters({ others }: WebhookDraft): TemplateResult | typeof nothing {
  const texts = filterTexts(others);
  return texts.length === 0 ? nothing : html`<p class="soft">Only of ${texts.join(", and of ")}.</p>`;
}

function headers(webhooks: Webhooks, draft: WebhookDraft): TemplateResult {
  const { editor } = webhooks;
  const set = (next: (before: readonly HeaderDraft[]) => readonly HeaderDraft[]) =>
    editor.set((before) => ({ headers: next(before.headers ?? []) }), "headers");
  const add = () => set((before) => [...before, { name: "", value: "" }]);
  const rows = draft.headers;
  if (rows === null)
    return html`<p class="soft">${draft.headerNames.length === 0 ? "None." : `${draft.headerNames.join(", ")}; their values are not shown.`}</p>
      <button type="button" @click=${add}>Set anew</button>`;
  const change = (index: number, changes: Partial<HeaderDraft>) =>
    set((before) => before.map((each, at) => (at === index ? { ...each, ...changes } : each)));
  return html`${rows.map(
    (header, index) => html`<div class="header-row">
      <input aria-label="Name of header ${index + 1}" placeholder="Authorization" autocomplete="off" maxlength=${HEADER_NAME_CHARACTERS_MAX}
        .value=${live(header.name)} @input=${(event: Event) => change(index, { name: textIn(event) })}>
      <input aria-label="Value of header ${index + 1}" autocomplete="off" maxlength=${HEADER_VALUE_CHARACTERS_MAX}
        .value=${live(header.value)} @input=${(event: Event) => change(index, { value: textIn(event) })}>
      <button type="button" class="quiet" aria-label="Remove header ${index + 1}"
        @click=${() => set((before) => before.filter((_, at) => at !== index))}>✕</button>
    </div>`,
  )}
  ${rows.length < HEADERS_MAX ? html`<button type="button" @click=${add}>Add a header</button>` : nothing}`;
}
