import { html, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { live } from "lit-html/directives/live.js";
import { type ZoneChoice, zonesWith } from "./zone-choice.ts";

/** Which zone all times are in. */
export function zoneSelect(choice: ZoneChoice): TemplateResult {
  const choose = (event: Event) => choice.set((event.target as HTMLSelectElement).value);
  return html`<label class="zone">Times in
    <select @change=${choose}>${guard([choice.zone], () => zoneOptions(choice.zone))}</select>
  </label>`;
}

/** 450 of them: too many to look through in each frame. */
function zoneOptions(zone: string): readonly TemplateResult[] {
  return zonesWith(zone).map((name) => html`<option .selected=${live(name === zone)}>${name}</option>`);
}
