import { html, nothing, type TemplateResult } from "lit-html";
import { counted } from "../geo/units.ts";
import { faultNote, type Remedy } from "../shell/fault-note.ts";
import type { DeviceTable } from "./device-table.ts";
import type { LiveDevices } from "./live.ts";

/* The state of the live stream, where users look: in the top bar, over the map, and in the list. */

/** For the top bar. */
export function liveBadge(live: LiveDevices, table: DeviceTable): TemplateResult {
  return html`<p class="live" role="status" data-state=${live.state}>
      <span class="live-dot"></span><span>${stateText(live, Date.now())}</span>
    </p>
    ${live.state === "live" ? html`<p class="live-count soft">${counted(table.size, "device")}</p>` : nothing}`;
}

/** Shows over the map why its devices are not live, once they have been. */
export function connectionCard(live: LiveDevices, tryNow: () => void): TemplateResult | typeof nothing {
  const { fault, state, isFilled } = live;
  if (!isFilled || fault === null || state === "live") return nothing;
  const note = state === "stopped" ? fault : `${fault} Devices are shown where they were last seen.`;
  return faultNote(note, remedyOf(live, tryNow), "visitor");
}

/** The list before the first positions. */
export interface ListLoading {
  /** Why they can't be loaded; null while nothing has failed. */
  readonly fault: string | null;
  readonly remedy: Remedy;
}

/** Null once the first positions are loaded. */
export function listLoading(live: LiveDevices, tryNow: () => void): ListLoading | null {
  const { fault, state, isFilled } = live;
  if (isFilled) return null;
  const next = state === "reconnecting" ? " Trying again…" : "";
  return {
    fault: fault === null ? null : `The devices can't be loaded. ${fault}${next}`,
    remedy: remedyOf(live, tryNow),
  };
}

/** A note that this is a demo, if it is one. */
export function demoNote(): TemplateResult | typeof nothing {
  const speed = document.body.dataset.demoSpeed;
  if (speed === undefined) return nothing;
  const text =
    speed === "1"
      ? "recorded devices at their real speed."
      : `recorded devices at ${speed}x speed. Shown speeds are as recorded.`;
  return html`<p class="demo-note soft"><strong>Demo</strong>: ${text}</p>`;
}

function remedyOf(live: LiveDevices, tryNow: () => void): Remedy {
  if (live.state === "stopped") return { label: "Connect again", act: () => live.wake() };
  return { label: "Try now", act: tryNow };
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
