import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { itemSuggestions } from "./item-suggestions.ts";

/** Devices, or other items, that a user chooses. */
export interface Choice {
  readonly ids: readonly string[];
  readonly search: string;
  /** What the page calls an item. */
  labelOf(id: string): string;
  /** Items that the search finds; null while they are looked up. */
  suggestions(): readonly string[] | null;
  type(search: string): void;
  add(id: string): void;
  remove(id: string): void;
}

/** What the items are, and whether their ids stand beside their names. */
const DEVICES = { noun: "device", showsIds: true };

/** The chosen items, and a field that finds others. */
export function choiceChips(choice: Choice, legend: string, { noun, showsIds } = DEVICES): TemplateResult {
  const matches = choice.search.trim() === "" ? null : choice.suggestions();
  const search = `Search for a ${noun} to add`;
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || choice.search.trim() === "") return;
    event.preventDefault();
    const first = choice.suggestions()?.[0]; // The last letter may not be drawn yet.
    if (first !== undefined) choice.add(first);
  };
  return html`<fieldset>
    <legend>${legend}</legend>
    ${
      choice.ids.length === 0
        ? nothing
        : html`<ul class="chips">
      ${choice.ids.map(
        (id) => html`<li><span class="name" title=${id}>${choice.labelOf(id)}</span>
        <button type="button" class="quiet" aria-label="Remove ${choice.labelOf(id)}" @click=${() => choice.remove(id)}>✕</button></li>`,
      )}
    </ul>`
    }
    <input type="search" aria-label=${search} placeholder=${search} autocomplete="off"
      .value=${live(choice.search)} @keydown=${enter}
      @input=${(event: Event) => choice.type((event.target as HTMLInputElement).value)}>
    ${
      matches === null
        ? nothing
        : itemSuggestions(matches, {
            ...{ noun, showsIds, labelOf: (id) => choice.labelOf(id) },
            choose: (id) => choice.add(id),
          })
    }
  </fieldset>`;
}
