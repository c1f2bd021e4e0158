import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { countText, distanceText, type Units } from "../geo/units.ts";
import { ACCURACY_LIMITS } from "../settings/settings.ts";
import type { Correcting } from "./correcting.ts";
import type { Outlier } from "./correction-requests.ts";
import { hideAllText, reasonText, suspiciousText } from "./correction-texts.ts";
import type { Suspects } from "./suspects.ts";

/** The list ends after this many. */
const LISTED_MAX = 20;

/** A short list is open from the beginning. */
const OPEN_MAX = 5;

/** The suspicious positions of the shown days. They are marked on the map, too. */
export function suspiciousList(corrections: Correcting, units: Units): TemplateResult | typeof nothing {
  const { suspects, mayEdit } = corrections;
  const { total, outliers } = suspects.found;
  if (!suspects.canSearch || (total === 0 && !mayEdit)) return nothing;
  const listed = outliers.slice(0, LISTED_MAX);
  return html`<details class="suspicious" ?open=${total > 0 && total <= OPEN_MAX}>
    <summary>${suspiciousText(total)}</summary>
    ${
      total === 0
        ? nothing
        : html`<p class="soft">Probably wrong, and marked on the map. Nothing is hidden before you say so.</p>
    <ul class="corrections">${listed.map((outlier) => outlierItem(outlier, corrections, units))}</ul>`
    }
    ${listed.length < total ? html`<p class="soft">The first ${LISTED_MAX} of ${countText(total)} are listed.</p>` : nothing}
    ${accuracyField(suspects, units)}
    ${
      total === 0
        ? nothing
        : mayEdit
          ? html`<button @click=${() => corrections.askToHideSuspects()}>${hideAllText(outliers.length, total)}</button>`
          : html`<p class="soft">Hiding them needs a key with the permission <code>edit</code>: see Settings.</p>`
    }
  </details>`;
}

function outlierItem(outlier: Outlier, corrections: Correcting, units: Units): TemplateResult {
  const { timestamp } = outlier;
  const { selection } = corrections;
  const isSelected = selection?.timestampMs.length === 1 && selection.timestampMs[0] === timestamp;
  return html`<li><button class="correction" aria-pressed=${isSelected ? "true" : "false"}
    @click=${() => corrections.lookAt(timestamp, outlier)}>
    <span>${corrections.timeText(timestamp)}</span><span class="soft">${reasonText(outlier, units)}</span>
  </button></li>`;
}

/** The accuracy from which positions are suspicious. */
function accuracyField(suspects: Suspects, units: Units): TemplateResult {
  const choices = [null, ...ACCURACY_LIMITS];
  const choose = (event: Event) =>
    suspects.setAccuracyMax(choices[(event.target as HTMLSelectElement).selectedIndex] ?? null);
  return html`<label class="accuracy" title="Less accurate positions are suspicious, too">Accuracy limit
    <select @change=${choose}>${choices.map(
      (meters) =>
        html`<option .selected=${live(meters === suspects.accuracyMax)}>${
          meters === null ? "none" : distanceText(meters, units)
        }</option>`,
    )}</select></label>`;
}
