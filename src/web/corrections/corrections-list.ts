import { html, nothing, type TemplateResult } from "lit-html";
import { faultNote } from "../shell/fault-note.ts";
import { dayMinuteText } from "../time/format.ts";
import { DAY, dayAt, type LocalDay, type Span } from "../time/local-day.ts";
import type { Blocked } from "./active-corrections.ts";
import type { Correcting } from "./correcting.ts";
import type { CorrectionRecord } from "./correction-requests.ts";
import { actionText, correctionTimes, makerText } from "./correction-texts.ts";

/** What the list needs of the page. */
export interface CorrectionsListParts {
  readonly corrections: Correcting;
  /** The id of the user's key. */
  readonly keyId: string | null;
  /** Shows a day of a device. */
  readonly look: (deviceId: string, day: LocalDay, span: Span) => void;
}

/** What has been corrected of the device, each with a button that undoes it. */
export function correctionsList(parts: CorrectionsListParts): TemplateResult | typeof nothing {
  const { all, fault, blocked } = parts.corrections.active;
  if (all.length === 0 && fault === null && blocked === null) return nothing;
  return html`<h3>Corrections</h3>
    ${fault === null ? nothing : faultNote(fault, null)}
    ${blocked === null ? nothing : blockedNote(blocked, parts)}
    <ul class="corrections">${all.map((correction) => correctionItem(correction, parts))}</ul>`;
}

/** Why a correction can't be undone yet, with what is in the way. */
function blockedNote({ correction, by }: Blocked, parts: CorrectionsListParts): TemplateResult {
  const { corrections } = parts;
  const what = actionText(correction, (id) => corrections.labelOf(id));
  return html`<section class="blocked" role="alert" aria-label="Undo these first">
    <p><b>${what}</b> can't be undone yet: the same positions were corrected again later. Undo first:</p>
    <ul class="corrections">${by.map((each) => correctionItem(each, parts))}</ul>
  </section>`;
}

function correctionItem(correction: CorrectionRecord, parts: CorrectionsListParts): TemplateResult {
  const { corrections, keyId, look } = parts;
  const { id, device_id, first, created, note } = correction;
  const { history } = corrections;
  const zone = history?.zone ?? "UTC";
  const times = correctionTimes(correction, zone);
  const what = actionText(correction, (other) => corrections.labelOf(other));
  const isOther = device_id !== history?.deviceId;
  const content = html`<span>${isOther ? `${corrections.labelOf(device_id)}: ` : nothing}${what}</span>
    <span class="soft">${times}</span>
    ${note ? html`<span class="correction-note">${note}</span>` : nothing}
    <span class="soft" title=${dayMinuteText(created, zone)}>${makerText(correction, keyId, zone)}</span>`;
  return html`<li>
    <button class="correction" title="Show this day" @click=${() => look(device_id, dayAt(first, zone), DAY)}>${content}</button>
    <button aria-label="Undo: ${what}, ${times}" ?disabled=${corrections.active.isUndoing(id)}
      @click=${() => corrections.active.undo(correction)}>Undo</button>
  </li>`;
}
