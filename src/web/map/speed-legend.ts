import { html, nothing, render, type TemplateResult } from "lit-html";
import type { SpeedScale } from "../history/speed-line.ts";
import { durationText } from "../time/format.ts";

/** A day, too, has a speed for each minute or so. */
const STEP_MS_MIN = 120_000;

/** What the colors of the line mean: a control of the map. */
export class SpeedLegend {
  readonly element = document.createElement("div");

  constructor() {
    this.element.className = "maplibregl-ctrl speed-legend";
    this.show(null);
  }

  onAdd(): HTMLElement {
    return this.element;
  }

  onRemove(): void {
    this.element.remove();
  }

  /** `hasUnknown` is whether a part of the line has no speed. */
  show(scale: SpeedScale | null, hasUnknown = false): void {
    this.element.hidden = scale === null;
    render(scale === null ? nothing : legend(scale, hasUnknown), this.element);
  }
}

function legend(scale: SpeedScale, hasUnknown: boolean): TemplateResult {
  const { limits, unit, isFromPositions, stepMs } = scale;
  return html`<p>Speed in ${unit}, slow to fast${isFromPositions ? ", computed from positions" : nothing}${
    stepMs === null || stepMs < STEP_MS_MIN ? nothing : `, one in ${durationText(stepMs)}`
  }</p>
    <ol>
      ${bandTexts(limits).map((text, band) => html`<li class="speed-${band + 1}">${text}</li>`)}
      ${hasUnknown ? html`<li class="speed-unknown">unknown</li>` : nothing}
    </ol>`;
}

/** `0–10`, `10–20`, `20+`. */
export function bandTexts(limits: readonly number[]): readonly string[] {
  return [0, ...limits].map((from, band) => (band < limits.length ? `${from}–${limits[band]!}` : `${from}+`));
}
