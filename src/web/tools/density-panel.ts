import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { counted, countText, distanceText, type Units } from "../geo/units.ts";
import { faultNote, type Remedy } from "../shell/fault-note.ts";
import { cellMeters, type Density } from "./density.ts";
import { DENSITY_PRESETS, type OwnRange, ownRange, rangeText } from "./density-range.ts";

/** The panel of the heatmap: its range, its legend and its state. */
export function densityPanel(density: Density, zone: string, units: Units): TemplateResult | typeof nothing {
  if (!density.isOpen) return nothing;
  const { own, preset } = density;
  const choose = (event: Event) => {
    const chosen = DENSITY_PRESETS[(event.target as HTMLSelectElement).selectedIndex];
    if (chosen === undefined) density.chooseOwn();
    else density.choose(chosen);
  };
  return html`<section class="card density" aria-labelledby="density-title" aria-busy=${density.isLoading}>
    <div class="card-head">
      <h2 id="density-title">Heatmap</h2>
      <select aria-label="Range" @change=${choose}>
        ${DENSITY_PRESETS.map((each) => html`<option .selected=${live(own === null && each === preset)}>${each.label}</option>`)}
        <option .selected=${live(own !== null)}>from … to …</option>
      </select>
      <button class="quiet" aria-label="Close" @click=${() => density.close()}>✕</button>
    </div>
    ${own === null ? nothing : ownInputs(density, own)}
    <p class="soft">${rangeText(density.range, zone)}</p>
    ${density.positions > 0 ? legend(density, units) : nothing}
    ${density.fault === null ? html`<p role="status">${state(density)}</p>` : faultNote(density.fault, remedyOf(density, zone))}
  </section>`;
}

/** A range that can't be is corrected in its fields. */
function remedyOf(density: Density, zone: string): Remedy | null {
  if (density.own !== null && "fault" in ownRange(density.own, zone)) return null;
  return { label: "Try again", act: () => density.reload() };
}

function ownInputs(density: Density, own: OwnRange): TemplateResult {
  const typed = (member: keyof OwnRange) => (event: Event) =>
    density.chooseOwn({ ...own, [member]: (event.target as HTMLInputElement).value });
  return html`<div class="density-range">
    <label for="density-start">From</label>
    <input id="density-start" type="datetime-local" .value=${live(own.start)} @change=${typed("start")}>
    <label for="density-end">To</label>
    <input id="density-end" type="datetime-local" .value=${live(own.end)} @change=${typed("end")}>
  </div>`;
}

/** What the first and the last color stand for. If all cells have the same count, there is only one. */
function legend({ shades: { least, most }, cells, latitude }: Density, units: Units): TemplateResult {
  const side = distanceText(cellMeters(cells!.zoom, latitude), units);
  return html`<figure class="density-legend">
    <div class="ramp" ?data-flat=${most <= least} aria-hidden="true"></div>
    <p><span><b>${most > least ? "few" : "all"}</b> ${counted(least, "position")}</span>
      ${most > least ? html`<span><b>many</b> ${countText(most)} or more</span>` : nothing}</p>
    <figcaption class="soft">Positions in each square of ${side}</figcaption>
  </figure>`;
}

function state({ isLoading, cells, positions, isCoarser, isIncomplete }: Density): string {
  if (isLoading) return "Loading…";
  if (cells === null || positions === 0) return "No positions here in this time.";
  const sentences = [`${counted(positions, "position")} in view.`];
  if (isCoarser) sentences.push("Squares are larger than usual: zoom in for finer ones.");
  if (isIncomplete) sentences.push("Some days are missing: the archive can't read them.");
  return sentences.join(" ");
}
