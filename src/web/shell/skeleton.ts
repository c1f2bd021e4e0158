import { html, type TemplateResult } from "lit-html";

/* Calm shapes in place of what is being loaded. Screen readers skip them: the element around them is `aria-busy`. */

/** Lines of text. */
export function skeletonLines(count: number): TemplateResult {
  return html`<div class="skeleton-lines late" aria-hidden="true">${bones(count)}</div>`;
}

/** The newest values of a device: its place, tiles, and the lines below them. */
export function skeletonFacts(): TemplateResult {
  return html`<div class="skeleton-facts late" aria-hidden="true">
    <span class="bone"></span>
    <div class="fact-tiles">${bones(4)}</div>
    <span class="bone"></span>
  </div>`;
}

/** Rows of the list of devices. */
export function skeletonRows(count: number): TemplateResult {
  const row = html`<div class="device-row">
    <span class="bone"></span><span class="name bone"></span><span class="activity bone"></span>
  </div>`;
  return html`<div class="skeleton-rows late" aria-hidden="true">${Array.from({ length: count }, () => row)}</div>`;
}

/** Numbers in tiles, above charts. */
export function skeletonTiles(count: number): TemplateResult {
  return html`<div class="tiles late" aria-hidden="true">${bones(count)}</div>`;
}

/** A plot, which fills its place. */
export function skeletonPlot(): TemplateResult {
  return html`<div class="skeleton-plot late" aria-hidden="true"><span class="bone"></span></div>`;
}

function bones(count: number): readonly TemplateResult[] {
  return Array.from({ length: count }, () => html`<span class="bone"></span>`);
}
