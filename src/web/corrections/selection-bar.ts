import { html, nothing, type TemplateResult } from "lit-html";
import { clockText } from "../time/format.ts";
import type { Correcting } from "./correcting.ts";
import { selectionText } from "./correction-texts.ts";
import type { Selection } from "./selection.ts";

/** What is selected and what can be done with it, or what has just been done; else how a selection begins. */
export function selectionBar(
  corrections: Correcting,
  clockMs: number | null,
): TemplateResult | typeof nothing {
  const { selection, notice, history, mayEdit } = corrections;
  if (!mayEdit || history === null) return nothing;
  if (selection !== null) return selectedBar(corrections, selection, history.zone, clockMs);
  if (notice !== null) {
    const { id, text } = notice;
    const correction = corrections.active.all.find((active) => active.id === id);
    return html`<p class="selection-bar" role="status"><span>${text}</span>
      ${
        correction === undefined
          ? nothing
          : html`<button title="Ctrl+Z" ?disabled=${corrections.active.isUndoing(correction.id)}
        @click=${() => corrections.active.undo(correction)}>Undo</button>`
      }
      <button class="quiet" aria-label="Dismiss" @click=${() => corrections.clear()}>✕</button></p>`;
  }
  if (clockMs === null) return nothing;
  return html`<p class="selection-bar"><button title="Or drag across the plot, or click the line on the map"
    @click=${() => corrections.selectAt(clockMs)}>Select</button></p>`;
}

function selectedBar(
  corrections: Correcting,
  selection: Selection,
  zone: string,
  clockMs: number | null,
): TemplateResult {
  const { moving } = corrections;
  const { startMs, endMs } = selection.range;
  const isOutside = clockMs !== null && (clockMs < startMs || clockMs > endMs);
  return html`<p class="selection-bar"><span role="status">${selectionText(selection, zone)}</span>
    ${isOutside ? html`<button @click=${() => corrections.extendTo(clockMs)}>Extend<span class="extent"> to ${clockText(clockMs, zone)}</span></button>` : nothing}
    ${
      moving.move === null
        ? nothing
        : html`<button ?disabled=${moving.hasBegun} title="Or drag it on the map" @click=${() => moving.begin()}>Move…</button>`
    }
    <button class="primary" @click=${() => corrections.askToHide()}>Hide…</button>
    <button title="Shift in time, or give to another device" @click=${() => corrections.askForMore()}>More…</button>
    <button class="quiet" aria-label="Clear the selection" title="Esc" @click=${() => corrections.clear()}>✕</button></p>`;
}
