import { html, nothing, type TemplateResult } from "lit-html";
import type { MapView } from "./map-view.ts";

/** The map, or why there is none. */
export function mapPanel({ element, fault }: MapView): TemplateResult {
  return html`${element}${fault === null ? nothing : html`<p class="no-map" role="status">${fault}</p>`}`;
}
