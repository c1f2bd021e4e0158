import { html, nothing, type TemplateResult } from "lit-html";

/** The one thing that helps after a failure. */
export interface Remedy {
  readonly label: string;
  act(): void;
}

/** Why something is missing, in its place. A screen reader reads it out at once. */
export function faultNote(fault: string, remedy: Remedy | null, className = ""): TemplateResult {
  return html`<div class="fault-note ${className}" role="alert">
    <p class="fault">${fault}</p>
    ${remedy === null ? nothing : html`<button @click=${() => remedy.act()}>${remedy.label}</button>`}
  </div>`;
}
