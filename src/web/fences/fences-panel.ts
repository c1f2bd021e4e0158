import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { repeat } from "lit-html/directives/repeat.js";
import { counted, countText, distanceText } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import { icon } from "../shell/icons.ts";
import { skeletonLines } from "../shell/skeleton.ts";
import { type Fence, nameOf } from "./fence.ts";
import { fenceForm } from "./fence-form.ts";
import { shapeText } from "./fence-shape.ts";
import { rulesText } from "./fence-texts.ts";
import { DRAWN_MAX } from "./fences-in-view.ts";
import type { Fencing } from "./fencing.ts";
import { previewSection } from "./preview-section.ts";

const SKELETON_LINES = 5;

/** The card of the geofences: their list, or the rules of one, or the form that changes one. */
export function fencesPanel(fences: Fencing): TemplateResult {
  const { editor, chosen } = fences;
  if (editor.draft !== null) return card(fences, formTitle(editor.draft.id), fenceForm(fences, editor.draft));
  if (chosen !== null) return card(fences, nameOf(chosen), details(fences, chosen));
  return card(fences, "Geofences", listBody(fences));
}

function formTitle(id: string | null): string {
  return id === null ? "New geofence" : "Edit geofence";
}

function card(fences: Fencing, title: string, body: TemplateResult): TemplateResult {
  const isList = fences.chosen === null && fences.editor.draft === null;
  return html`<section class="card fences" aria-labelledby="fences-title">
    <div class="card-head">
      ${
        isList
          ? nothing
          : html`<button class="quiet" aria-label="Back" title="Back (Esc)" @click=${() => fences.leave()}>‹</button>`
      }
      <h2 id="fences-title">${title}</h2>
      <button class="quiet" aria-label="Close" @click=${() => fences.close()}>✕</button>
    </div>
    <div class="fences-body">${body}</div>
  </section>`;
}

function listBody(fences: Fencing): TemplateResult {
  const { list, view, mayManage } = fences;
  const { state, fault, query } = list;
  const search = (event: Event) => list.search((event.currentTarget as HTMLInputElement).value);
  return html`${
    mayManage
      ? html`<div class="fence-tools">
          <button class="tonal" @click=${() => fences.begin("circle")}>New circle</button>
          <button class="tonal" @click=${() => fences.begin("polygon")}>New polygon</button>
        </div>`
      : nothing
  }
    <input type="search" aria-label="Search geofences" placeholder="Search by name or tag" autocomplete="off"
      .value=${live(query)} @input=${search}>
    ${
      state === "failed" && fault !== null
        ? faultNote(fault, { label: "Try again", act: () => void list.load() })
        : html`<p class="soft" role="status">${countOf(fences)}</p>`
    }
    ${view.fault === null || fault !== null ? nothing : faultNote(view.fault, null)}
    ${view.undrawn === 0 ? nothing : html`<p class="soft">${undrawnText(view.undrawn)}</p>`}
    ${state === "loading" && list.total === null ? skeletonLines(SKELETON_LINES) : rows(fences)}
    ${
      list.hasMore
        ? html`<button class="wide" ?disabled=${state === "loading"} @click=${() => void list.more()}>Load more</button>`
        : nothing
    }`;
}

function undrawnText(count: number): string {
  return `The map shows ${countText(DRAWN_MAX)} of this view. Zoom in to see the other ${countText(count)}.`;
}

function countOf({ list, mayManage }: Fencing): string {
  const { total, query, fences } = list;
  if (total === null) return "Loading geofences…";
  if (total > 0)
    return fences.length < total
      ? `${countText(fences.length)} of ${counted(total, "geofence")}`
      : counted(total, "geofence");
  if (query.trim() !== "") return `No name and no tag contains “${query.trim()}”.`;
  return mayManage
    ? "No geofences yet. Draw one, or choose a stop of a device's day and press “Fence here”."
    : "No geofences yet. A key with the permission manage makes them.";
}

function rows(fences: Fencing): TemplateResult | typeof nothing {
  const listed = fences.list.fences;
  if (listed.length === 0) return nothing;
  return html`<ol class="fence-list">
    ${repeat(
      listed,
      ({ id }) => id,
      (fence) => row(fence, fences),
    )}
  </ol>`;
}

function row(fence: Fence, fences: Fencing): TemplateResult {
  const { color, tags = [], active } = fence.properties;
  const length = (meters: number) => distanceText(meters, fences.units);
  const texts = [shapeText(fence, length), ...(active === false ? ["not active"] : []), ...tags];
  return html`<li><button @click=${() => fences.choose(fence)}>
    <span class="fence-mark" .style=${color === undefined ? "" : `--tint: ${color}`}></span>
    <span class="name">${nameOf(fence)}</span>
    <span class="soft">${texts.join(" · ")}</span>
  </button></li>`;
}

function details(fences: Fencing, fence: Fence): TemplateResult {
  const { description, tags = [] } = fence.properties;
  return html`${description === undefined ? nothing : html`<p>${description}</p>`}
    <ul class="fence-rules">${rulesText(fence, fences.units).map((text) => html`<li>${text}</li>`)}</ul>
    ${tags.length === 0 ? nothing : html`<p class="soft">Tags: ${tags.join(", ")}</p>`}
    ${
      fences.mayManage
        ? html`<div class="fence-tools"><button class="tool tonal" @click=${() => fences.edit()}>
            ${icon("edit")}<span>Edit</span></button></div>`
        : nothing
    }
    ${previewSection(fences)}`;
}
