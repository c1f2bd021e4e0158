import { html, nothing, type TemplateResult } from "lit-html";
import type { Units } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import type { Correcting } from "./correcting.ts";
import { noteField, submitTo } from "./correction-form.ts";
import { moveText } from "./correction-texts.ts";
import { isMoved, type Move } from "./move.ts";

/** A card over the map: where a position goes, and the button that sends it. */
export function moveCard(corrections: Correcting, move: Move, units: Units): TemplateResult {
  const { moving } = corrections;
  const { isSending, fault } = moving;
  return html`<section class="card move-card" aria-labelledby="move-title">
    <div class="card-head">
      <h2 id="move-title">Move a position</h2>
      <button class="quiet" aria-label="Close" title="Esc" @click=${() => moving.cancel()}>✕</button>
    </div>
    <p role="status">${moveText(move, corrections.timeText(move.timestampMs), units)}</p>
    <p class="soft move-keys">Arrow keys move it, with Shift further. Enter confirms, Esc cancels.</p>
    <form class="correction-form" @submit=${submitTo(() => moving.send())}>
      ${noteField(moving)}
      ${fault === null ? nothing : faultNote(fault, null)}
      <div class="correction-actions">
        <button type="button" ?disabled=${isSending} @click=${() => moving.cancel()}>Cancel</button>
        <button class="primary" ?disabled=${isSending || !isMoved(move)}>${isSending ? "Moving…" : "Move"}</button>
      </div>
    </form>
  </section>`;
}
