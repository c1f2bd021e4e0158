import { html, type TemplateResult } from "lit-html";
import type { Copying } from "./copying.ts";

/** A text to take elsewhere: selectable, with a button that copies it. */
export function copyField(name: string, value: string, copying: Copying): TemplateResult {
  const select = (event: Event) => (event.currentTarget as HTMLInputElement).select();
  return html`<label class="copy-field">
    <span>${name}</span>
    <input readonly spellcheck="false" .value=${value} @focus=${select}>
    ${copyButton(name, value, copying)}
  </label>`;
}

/** The same for texts of several lines. */
export function copyLines(name: string, value: string, copying: Copying): TemplateResult {
  return html`<label class="copy-field lines">
    <span>${name}</span>
    <textarea readonly spellcheck="false" rows=${Math.min(12, value.split("\n").length)} .value=${value}></textarea>
    ${copyButton(name, value, copying)}
  </label>`;
}

function copyButton(name: string, value: string, copying: Copying): TemplateResult {
  const copy = (event: Event) => {
    event.preventDefault(); // The label would move the focus.
    const label = (event.currentTarget as HTMLElement).closest("label")!;
    void copying.copy(label.querySelector<HTMLInputElement | HTMLTextAreaElement>("input, textarea")!);
  };
  const words = copying.wordsFor(value);
  return html`<button aria-label="${words}: ${name}" @click=${copy}>${words}</button>`;
}
