import { html, nothing, type TemplateResult } from "lit-html";

/** What a list of suggestions needs of the dialog that has it. */
interface Suggesting {
  /** What they are; devices by default. */
  readonly noun?: string;
  /** Whether ids stand beside names; true by default. */
  readonly showsIds?: boolean;
  /** What the page calls one. */
  readonly labelOf: (id: string) => string;
  readonly choose: (id: string) => void;
  /** Stands after them. Defaults to a note if none matches. */
  readonly last?: TemplateResult | typeof nothing;
}

/** Items to choose from, below the field in which the user searches for them. */
export function itemSuggestions(ids: readonly string[], suggesting: Suggesting): TemplateResult {
  const { noun = "device", showsIds = true, labelOf, choose } = suggesting;
  const { last = ids.length === 0 ? noMatch(noun) : nothing } = suggesting;
  return html`<ul class="suggestions">
    ${ids.map((id) => html`<li><button type="button" class="suggestion" @click=${() => choose(id)}>${showsIds ? labelAndId(labelOf(id), id) : labelOf(id)}</button></li>`)}
    ${last}
  </ul>`;
}

function noMatch(noun: string): TemplateResult {
  return html`<li class="soft" role="status">No matching ${noun}.</li>`;
}

/** The id alone if the item has no name. */
function labelAndId(label: string, id: string): TemplateResult {
  return html`${label}${label === id ? nothing : html` <span class="soft">${id}</span>`}`;
}
