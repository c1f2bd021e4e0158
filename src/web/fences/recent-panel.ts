import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { faultNote } from "../shell/fault-note.ts";
import { instantText } from "../time/format.ts";
import type { FenceEvent } from "./fence.ts";
import { eventText } from "./fence-texts.ts";
import type { RecentEvents } from "./recent-events.ts";

/** What has happened last at geofences and alerts. */
export function recentBody(recent: RecentEvents): TemplateResult {
  const { events, isLoaded, fault } = recent;
  const status = isLoaded
    ? events.length === 0
      ? "Nothing has happened yet."
      : "The newest first."
    : "Loading…";
  return html`${fault === null ? html`<p class="soft" role="status">${status}</p>` : faultNote(fault, null)}
    ${
      events.length === 0
        ? nothing
        : html`<ol class="item-events">${repeat(
            events,
            ({ id }) => id,
            (event) => html`<li>${row(event, recent)}</li>`,
          )}</ol>`
    }`;
}

function row(event: FenceEvent, recent: RecentEvents): TemplateResult {
  return html`<button @click=${() => recent.choose(event)}>
    <span class="event-mark" data-kind=${event.kind}></span>
    <span class="name">${recent.labelOf(event.device_id)}</span>
    <span>${recent.nameOf(event)}: ${eventText(event)}</span>
    <span class="soft">${instantText(event.timestamp, recent.zone)}</span>
  </button>`;
}
