import { html, nothing, type TemplateResult } from "lit-html";
import { countText, distanceText } from "../geo/units.ts";
import { itemList, searchField } from "../items/item-list.ts";
import { faultNote } from "../shell/fault-note.ts";
import { icon } from "../shell/icons.ts";
import { type Fence, nameOf } from "./fence.ts";
import { fenceForm } from "./fence-form.ts";
import { shapeText } from "./fence-shape.ts";
import { rulesText } from "./fence-texts.ts";
import { DRAWN_MAX } from "./fences-in-view.ts";
import type { Fencing } from "./fencing.ts";
import { previewSection } from "./preview-section.ts";

/** What the card of the geofences is about; null while it shows the list. */
export function fencesTitle({ editor: { draft }, chosen }: Fencing): string | null {
  if (draft !== null) return draft.id === null ? "New geofence" : "Edit geofence";
  return chosen === null ? null : nameOf(chosen);
}

/** Their list, or the rules of one, or the form that changes one. */
export function fencesBody(fences: Fencing): TemplateResult {
  const { editor, chosen, list, mayManage } = fences;
  if (editor.draft !== null) return fenceForm(fences, editor.draft);
  if (chosen !== null) return details(fences, chosen);
  return html`${
    mayManage
      ? html`<div class="item-tools">
          <button class="tonal" @click=${() => fences.begin("circle")}>New circle</button>
          <button class="tonal" @click=${() => fences.begin("polygon")}>New polygon</button>
        </div>`
      : nothing
  }
    ${searchField(list, "Search geofences")}
    ${itemList({
      list,
      noun: "geofence",
      none: mayManage
        ? "No geofences yet. Draw one, or choose a stop of a device's day and press “Fence here”."
        : "No geofences yet. A key with the permission manage makes them.",
      row: (fence) => row(fence, fences),
      notes: notes(fences),
    })}`;
}

/** About the geofences on the map. */
function notes({ view, list }: Fencing): TemplateResult {
  return html`${view.fault === null || list.fault !== null ? nothing : faultNote(view.fault, null)}
    ${view.undrawn === 0 ? nothing : html`<p class="soft">${undrawnText(view.undrawn)}</p>`}`;
}

function undrawnText(count: number): string {
  return `The map shows ${countText(DRAWN_MAX)} of this view. Zoom in to see the other ${countText(count)}.`;
}

function row(fence: Fence, fences: Fencing): TemplateResult {
  const { color, tags = [], active } = fence.properties;
  const length = (meters: number) => distanceText(meters, fences.units);
  const texts = [shapeText(fence, length), ...(active === false ? ["not active"] : []), ...tags];
  return html`<button @click=${() => fences.choose(fence)}>
    <span class="fence-mark" .style=${color === undefined ? "" : `--tint: ${color}`}></span>
    <span class="name">${nameOf(fence)}</span>
    <span class="soft">${texts.join(" · ")}</span>
  </button>`;
}

function details(fences: Fencing, fence: Fence): TemplateResult {
  const { description, tags = [] } = fence.properties;
  return html`${description === undefined ? nothing : html`<p>${description}</p>`}
    <ul class="item-rules">${rulesText(fence, fences.units).map((text) => html`<li>${text}</li>`)}</ul>
    ${tags.length === 0 ? nothing : html`<p class="soft">Tags: ${tags.join(", ")}</p>`}
    ${
      fences.mayManage
        ? html`<div class="item-tools"><button class="tool tonal" @click=${() => fences.edit()}>
            ${icon("edit")}<span>Edit</span></button></div>`
        : nothing
    }
    ${previewSection(fences)}`;
}
