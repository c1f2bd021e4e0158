import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { counted, countText } from "../geo/units.ts";
import { dayText } from "../time/format.ts";
import { dayAt } from "../time/local-day.ts";
import { DENSITY_DAYS, type Density } from "./density.ts";

/** The panel of the heatmap: its range, its legend and its state. */
export function densityPanel(density: Density, zone: string): TemplateResult | typeof nothing {
  if (!density.isOpen) return nothing;
  const choose = (event: Event) =>
    density.choose(DENSITY_DAYS[(event.target as HTMLSelectElement).selectedIndex]!);
  return html`<section class="card density" aria-labelledby="density-title" aria-busy=${density.isLoading}>
    <div class="card-head">
      <h2 id="density-title">Heatmap</h2>
      <select aria-label="Range" @change=${choose}>
        ${DENSITY_DAYS.map((days) => html`<option .selected=${live(days === density.chosen)}>${days.label}</option>`)}
      </select>
      <button class="quiet" aria-label="Close" @click=${() => density.close()}>✕</button>
    </div>
    <p class="soft">${rangeText(density, zone)}</p>
    ${density.positions > 0 ? legend(density) : nothing}
    <p role="status" class=${density.fault === null ? "" : "fault"}>${density.fault ?? state(density)}</p>
  </section>`;
}

/** `Mon 16 Nov to Sun 22 Nov 2026, days of Europe/Berlin`. */
function rangeText({ range }: Density, zone: string): string {
  const first = dayAt(range.startMs, zone);
  const last = dayAt(range.endMs - 1, zone);
  return `${first === last ? dayText(first) : `${dayText(first)} to ${dayText(last)}`}, days of ${zone}`;
}

/** If all cells have the same count, the legend has one color. */
function legend({ shades: { least, most } }: Density): TemplateResult {
  return html`<p class="density-legend">
    <span>${countText(least)}</span><span class="ramp" aria-hidden="true"></span>
    ${most > least ? html`<span>${countText(most)}+</span>` : nothing}
    <span class="soft">positions per cell</span>
  </p>`;
}

function state({ isLoading, cells, positions, isCoarser, isIncomplete }: Density): string {
  if (isLoading) return "Loading…";
  if (cells === null || positions === 0) return "No positions here on these days.";
  const sentences = [`${counted(positions, "position")} in view.`];
  if (isCoarser) sentences.push("Cells are coarser than usual: zoom in for finer ones.");
  if (isIncomplete) sentences.push("Some days are missing: the archive can't read them.");
  return sentences.join(" ");
}
