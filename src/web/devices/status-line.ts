import { html, nothing, type TemplateResult } from "lit-html";
import { counted, countText } from "../geo/units.ts";
import type { DeviceTable } from "./device-table.ts";
import type { LiveDevices } from "./live.ts";

/** Whether what is shown is up to date, for the bar. */
export function liveBadge(live: LiveDevices, table: DeviceTable): TemplateResult {
  return html`<p class="live" role="status" data-state=${live.state}>
      <span class="live-dot"></span><span>${stateText(live, Date.now())}</span>
    </p>
    ${live.state === "live" ? html`<p class="live-count soft">${counted(table.size, "device")}</p>` : nothing}`;
}

/** Says over the map why the server refused the live stream, and offers another try. */
export function stoppedCard(live: LiveDevices): TemplateResult | typeof nothing {
  if (live.state !== "stopped") return nothing;
  return html`<div class="visitor stopped" role="alert">
    <p class="fault">${live.fault}</p>
    <button @click=${() => live.wake()}>Connect again</button>
  </div>`;
}

/** What the list says before it has the first positions; null from then on. */
export function loadingText({ isFilled, state }: LiveDevices): string | null {
  if (isFilled) return null;
  return state === "stopped" ? "The devices can't be loaded." : "Loading devices…";
}

/** Says below the list how the server is. A visitor does not see the length of its log. */
export function statusLine(live: LiveDevices, isView: boolean): TemplateResult {
  const { state, fault, sequence } = live;
  const ready = isView ? "server: ready" : `server: ready, log ${countText(sequence)}`;
  const text = state === "live" ? ready : (fault ?? "server: no connection");
  return html`<p class="status soft">${state === "starting" ? "server: asked" : text}${demoText()}</p>`;
}

/** Says that nothing here is real, where that is so. */
function demoText(): TemplateResult | typeof nothing {
  const speed = document.body.dataset.demoSpeed;
  if (speed === undefined) return nothing;
  if (speed === "1") return html`<br>Demo: recorded devices, as fast as they were.`;
  return html`<br>Demo: recorded devices, ${speed} times as fast. So are all speeds.`;
}

function stateText({ state, retryAtMs }: LiveDevices, nowMs: number): TemplateResult | string {
  if (state === "starting") return "Loading…";
  if (state === "live") return "Live";
  if (state === "stopped") return "Stopped";
  if (retryAtMs === null) return "Reconnecting…";
  const seconds = Math.max(1, Math.ceil((retryAtMs - nowMs) / 1000));
  // A screen reader would say every second of it.
  return html`Reconnecting<span class="live-countdown" aria-hidden="true"> in ${seconds} s</span>…`;
}
