import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";

/** Seen well on the map by day and by night. */
const COLORS: readonly (readonly [color: string, name: string])[] = [
  ["#d93025", "Red"],
  ["#e8710a", "Orange"],
  ["#f2b600", "Yellow"],
  ["#1e8e3e", "Green"],
  ["#0097a7", "Teal"],
  ["#1a73e8", "Blue"],
  ["#7b3ff2", "Violet"],
  ["#d81b78", "Pink"],
  ["#8d5b3e", "Brown"],
];

/** What the browser's dialog of colors begins with. */
const FIRST_OWN_COLOR = "#607d8b";

/** A choice of colors; null is none. */
export function colorChoices(color: string | null, choose: (color: string | null) => void): TemplateResult {
  const isOwn = color !== null && !COLORS.some(([known]) => known === color);
  const swatch = (value: string | null, name: string) => html`<label class="color-choice" title=${name}>
    <input type="radio" name="color" .checked=${live(value === color)} @change=${() => choose(value)}>
    <span class=${value === null ? "color-face none" : "color-face"} .style=${value === null ? "" : `--tint: ${value}`}></span>
    <span class="unseen">${name}</span></label>`;
  return html`<fieldset>
    <legend>Color</legend>
    <div class="color-choices">
      ${swatch(null, "None")} ${COLORS.map(([value, name]) => swatch(value, name))}
      <label class=${isOwn ? "color-choice own chosen" : "color-choice own"} title="Another color">
        <input type="color" aria-label="Another color" .value=${live(isOwn ? color : FIRST_OWN_COLOR)}
          @input=${(event: Event) => choose((event.currentTarget as HTMLInputElement).value)}></label>
    </div>
  </fieldset>`;
}
