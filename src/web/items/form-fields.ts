import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { dialog } from "../shell/dialog.ts";
import type { Draft, DraftEditor } from "./draft-editor.ts";
import type { DraftFault } from "./draft-fault.ts";

/* Fields of a form. An error of the server is shown beside the field that it names. */

export const NAME_CHARACTERS_MAX = 128;

interface Field {
  /** The member of the draft. */
  readonly name: string;
  readonly label: string;
  readonly fault: DraftFault | null;
}

interface TextField extends Field {
  readonly value: string;
  readonly set: (text: string) => void;
}

export function textField(
  { name, label, fault, value, set }: TextField,
  { charactersMax = NAME_CHARACTERS_MAX, type = "text", placeholder = "" } = {},
): TemplateResult {
  return html`<label class="item-name">${label}
      <input type=${type} maxlength=${charactersMax} autocomplete="off" placeholder=${placeholder} .value=${live(value)}
        @input=${(event: Event) => set(textIn(event))} aria-describedby=${describedBy(fault, name)}></label>
    ${faultBeside(fault, name)}`;
}

export function numberField(
  { name, label, fault, value, set }: TextField,
  { unit, isRequired = false }: { readonly unit: string; readonly isRequired?: boolean },
): TemplateResult {
  return html`<label class="item-number"><span>${label}</span>
      <input type="number" min="0" step="any" inputmode="decimal" ?required=${isRequired} .value=${live(value)}
        @input=${(event: Event) => set(textIn(event))} aria-describedby=${describedBy(fault, name)}>
      <span class="soft">${unit}</span></label>
    ${faultBeside(fault, name)}`;
}

export function checkbox(label: string, isOn: boolean, set: (isOn: boolean) => void): TemplateResult {
  return html`<label class="item-check"><input type="checkbox" .checked=${live(isOn)}
    @change=${(event: Event) => set((event.currentTarget as HTMLInputElement).checked)}>${label}</label>`;
}

function describedBy(fault: DraftFault | null, member: string): string | typeof nothing {
  return fault?.member === member ? `fault-${member}` : nothing;
}

export function faultBeside(fault: DraftFault | null, member: string): TemplateResult | typeof nothing {
  if (fault?.member !== member) return nothing;
  return html`<p class="fault" role="alert" id="fault-${member}">${fault.text}</p>`;
}

export function textIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement).value;
}

type Editor = Pick<
  DraftEditor<Draft, unknown>,
  "fault" | "isSaving" | "isAskingToDelete" | "askToDelete" | "delete" | "save"
>;

interface FormParts {
  readonly editor: Editor;
  readonly draft: Draft;
  readonly fields: unknown;
  /** Whether there is anything to save. */
  readonly isComplete?: boolean;
  readonly cancel: () => void;
}

/** A form with its buttons, and above them what the server says of the whole draft. */
export function itemForm({ editor, draft, fields, isComplete = true, cancel }: FormParts): TemplateResult {
  const { fault, isSaving } = editor;
  const submit = (event: Event) => {
    event.preventDefault();
    void editor.save();
  };
  return html`<form class="item-form" @submit=${submit}>
    ${fields}
    ${fault === null || fault.member !== null ? nothing : html`<p class="fault" role="alert">${fault.text}</p>`}
    <div class="item-buttons">
      <button class="primary" ?disabled=${isSaving || !isComplete}>${isSaving ? "Saving…" : "Save"}</button>
      <button type="button" ?disabled=${isSaving} @click=${cancel}>Cancel</button>
      ${
        draft.id === null
          ? nothing
          : html`<button type="button" class="danger" ?disabled=${isSaving}
              @click=${() => editor.askToDelete(true)}>Delete…</button>`
      }
    </div>
  </form>`;
}

interface Deletion {
  /** What is deleted, without an article. */
  readonly noun: string;
  readonly name: string;
  /** What follows from it. */
  readonly consequence: string;
}

/** Asks whether an item is to be deleted. */
export function deleteDialog(
  editor: Editor,
  { noun, name, consequence }: Deletion,
): TemplateResult | typeof nothing {
  if (!editor.isAskingToDelete) return nothing;
  const body = html`<p>${consequence}</p>
    <div class="item-tools">
      <button @click=${() => editor.askToDelete(false)}>Keep it</button>
      <button class="danger" @click=${() => void editor.delete()}>Delete</button>
    </div>`;
  const title = `Delete ${name === "" ? `this ${noun}` : `“${name}”`}?`;
  return dialog({ name: "item-delete", title, body, closed: () => editor.askToDelete(false) });
}
