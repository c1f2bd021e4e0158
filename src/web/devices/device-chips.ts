import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { deviceSuggestions } from "./device-suggestions.ts";

/** Devices that a user chooses. */
export interface DeviceChoice {
  readonly deviceIds: readonly string[];
  readonly search: string;
  /** What the page calls a device. */
  labelOf(id: string): string;
  /** Devices that the search finds. */
  suggestions(): readonly string[];
  type(search: string): void;
  add(id: string): void;
  remove(id: string): void;
}

/** The chosen devices, and a field that finds others. */
export function deviceChips(choice: DeviceChoice, legend: string): TemplateResult {
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || choice.search.trim() === "") return;
    event.preventDefault();
    const [first] = choice.suggestions(); // The last letter may not be drawn yet.
    if (first !== undefined) choice.add(first);
  };
  return html`<fieldset>
    <legend>${legend}</legend>
    ${
      choice.deviceIds.length === 0
        ? nothing
        : html`<ul class="chips">
      ${choice.deviceIds.map(
        (id) => html`<li><span class="name" title=${id}>${choice.labelOf(id)}</span>
        <button type="button" class="quiet" aria-label="Remove ${choice.labelOf(id)}" @click=${() => choice.remove(id)}>✕</button></li>`,
      )}
    </ul>`
    }
    <input type="search" aria-label="Search for a device to add" placeholder="Search for a device to add" autocomplete="off"
      .value=${live(choice.search)} @keydown=${enter}
      @input=${(event: Event) => choice.type((event.target as HTMLInputElement).value)}>
    ${
      choice.search.trim() === ""
        ? nothing
        : deviceSuggestions(choice.suggestions(), {
            labelOf: (id) => choice.labelOf(id),
            choose: (id) => choice.add(id),
          })
    }
  </fieldset>`;
}
