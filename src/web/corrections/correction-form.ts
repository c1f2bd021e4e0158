import { html, type TemplateResult } from "lit-html";

/* What the forms of corrections share. */

const NOTE_CHARACTERS_MAX = 500;

/** The field for the reason of a correction, which other users see. */
export function noteField(correction: { note: string }): TemplateResult {
  const type = (event: Event) => {
    correction.note = (event.target as HTMLInputElement).value;
  };
  return html`<label class="note-field"><span>Note <span class="soft">(optional)</span></span>
    <input name="note" maxlength=${NOTE_CHARACTERS_MAX} autocomplete="off" .value=${correction.note} @input=${type}></label>`;
}

/** A listener of a form that calls a function, instead of the browser sending the form. */
export function submitTo(send: () => Promise<void>) {
  return (event: SubmitEvent) => {
    event.preventDefault();
    void send();
  };
}
