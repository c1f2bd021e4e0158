import { html, nothing, type TemplateResult } from "lit-html";
import { counted, countText } from "../geo/units.ts";
import type { DeviceTable } from "./device-table.ts";
import type { LiveDevices } from "./live.ts";

/** The state of the live stream, for the top bar. */
export function liveBadge(live: LiveDevices, table: DeviceTable): TemplateResult {
  return html`<p class="live" role="status" data-state=${live.state}>
      <span class="live-dot"></span><span>${stateText(live, Date.now())}</span>
    </p>
    ${live.state === "live" ? html`<p class="live-count soft">${counted(table.size, "device")}</p>` : nothing}`;
}

/** Shows over the map why the server rejected the live stream, and offers another attempt. */
export function stoppedCard(live: LiveDevices): TemplateResult | typeof nothing {
  if (live.state !== "stopped") return nothing;
  return html`<div class="visitor stopped" role="alert">
    <p class="fault">${live.fault}</p>
    <button @click=${() => live.wake()}>Connect again</button>
  </div>`;
}

/** The list's text before the first positions; null from then on. */
export function loadingText({ isFilled, state }: LiveDevices): string | null {
  if (isFilled) return null;
  return state === "stopped" ? "The devices can't be loaded." : "Loading devices…";
}

/** The state of the server, below the list. A visitor does not see the sequence of its log. */
export function statusLine(live: LiveDevices, isView: boolean): TemplateResult {
  const { state, fault, sequence } = live;
  const ready = isView ? "server: ready" : `server: ready, log ${countText(sequence)}`;
  const text = state === "live" ? ready : (fault ?? "server: no connection");
  return html`<p class="status soft">${state === "starting" ? "server: connecting" : text}${demoText()}</p>`;
}

/** A note that this is a demo, if it is one. */
function demoText(): TemplateResult | typeof nothing {
  const speed = document.body.dataset.demoSpeed;
  if (speed === undefined) return nothing;
  if (speed === "1") return html`<br>Demo: recorded devices at their real speed.`;
  return html`<br>Demo: recorded devices at ${speed}x speed. Shown speeds are as recorded.`;
}

function stateText({ state, retryAtMs }: LiveDevices, nowMs: number): TemplateResult | string {
  if (state === "starting") return "Loading…";
  if (state === "live") return "Live";
  if (state === "stopped") return "Stopped";
  if (retryAtMs === null) return "Reconnecting…";
  const seconds = Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000));
  // Hidden from screen readers, which would read every second of the countdown.
  return html`Reconnecting<span class="live-countdown" aria-hidden="true"> in ${seconds} s</span>…`;
}
