import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { counted, countText } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import { dayMinuteText, durationText, instantText } from "../time/format.ts";
import type { FenceEvent } from "./fence.ts";
import type { FencePreview, PreviewSpan } from "./fence-preview.ts";
import { eventText } from "./fence-texts.ts";

/* The preview of a geofence or an alert. */

const SPANS: Readonly<Record<PreviewSpan, string>> = {
  today: "Today",
  yesterday: "Yesterday",
  week: "The last 7 days",
};

export interface Previewing {
  readonly preview: FencePreview;
  /** What the preview is of; null while that is not complete. */
  readonly previewed: unknown;
  readonly zone: string;
  /** What the page calls a device. */
  labelOf(deviceId: string): string;
}

/** What a geofence or an alert would have said, before it is saved. */
export function previewSection(previewing: Previewing): TemplateResult {
  const { preview, previewed } = previewing;
  const isRunning = preview.state === "running";
  const change = (event: Event) =>
    preview.choose((event.currentTarget as HTMLSelectElement).value as PreviewSpan);
  const run = () => {
    if (previewed !== null) void preview.run(previewed);
  };
  return html`<section class="item-preview" aria-labelledby="fence-preview-title">
    <h3 id="fence-preview-title">What it would have said</h3>
    <div class="item-tools">
      <select aria-label="Time of the preview" @change=${change}>
        ${Object.entries(SPANS).map(
          ([span, label]) =>
            html`<option value=${span} .selected=${live(span === preview.span)}>${label}</option>`,
        )}
      </select>
      ${
        isRunning
          ? html`<button type="button" @click=${() => preview.cancel()}>Cancel</button>`
          : html`<button type="button" ?disabled=${previewed === null} @click=${run}>Preview</button>`
      }
    </div>
    ${isRunning ? html`${progress(preview)}${eventRows(previewing)}` : nothing}
    ${preview.fault === null ? nothing : faultNote(preview.fault, null)}
    ${preview.state === "done" ? answer(previewing) : nothing}
  </section>`;
}

function progress({ elapsedMs, events }: FencePreview): TemplateResult {
  const count = events.length === 0 ? "" : `, ${counted(events.length, "event")}`;
  return html`<progress aria-label="The preview is running"></progress>
    <p class="soft" role="status">Reading the past: ${durationText(elapsedMs)}${count}</p>`;
}

function answer(previewing: Previewing): TemplateResult {
  const { preview, zone } = previewing;
  const { events, total, range, isIncomplete } = preview;
  const when =
    range === null
      ? ""
      : ` from ${dayMinuteText(range.startMs, zone)} to ${dayMinuteText(range.endMs, zone)}`;
  const cut = events.length < total ? `, of which the first ${countText(events.length)} are listed` : "";
  return html`<p class="soft" role="status">${total === 0 ? "No events" : counted(total, "event")}${when}${cut}.</p>
    ${isIncomplete ? html`<p class="soft">Some reports of this time are lost.</p>` : nothing}
    ${eventRows(previewing)}`;
}

function eventRows(previewing: Previewing): TemplateResult | typeof nothing {
  const { events } = previewing.preview;
  if (events.length === 0) return nothing;
  return html`<ol class="item-events">${events.map((event) => eventRow(event, previewing))}</ol>`;
}

function eventRow(event: FenceEvent, previewing: Previewing): TemplateResult {
  const { preview, zone } = previewing;
  return html`<li><button type="button" aria-current=${preview.shown === event ? "true" : nothing}
    @click=${() => void preview.show(event)}>
    <span class="event-mark" data-kind=${event.kind}></span>
    <span class="name">${previewing.labelOf(event.device_id)}</span>
    <span>${eventText(event)}</span>
    <span class="soft">${instantText(event.timestamp, zone)}</span>
  </button></li>`;
}
