import { html, nothing, type TemplateResult } from "lit-html";
import type { LiveDevices } from "../devices/live.ts";
import { stoppedCard } from "../devices/status-line.ts";
import type { MapView } from "../map/map-view.ts";
import { streetsHint } from "../map/streets-hint.ts";
import type { Session } from "../session/session.ts";
import { visitorBanner } from "../session/visitor.ts";
import { densityPanel } from "./density-panel.ts";
import { helpDialog } from "./help.ts";
import { nearbyPanel } from "./nearby-panel.ts";
import type { Tools } from "./tools.ts";

/* The tools' buttons, panels and dialogs. */

interface ToolPanelsParts {
  readonly tools: Tools;
  readonly map: Pick<MapView, "fault" | "fitAll" | "streetsHint">;
  readonly session: Session;
  readonly live: LiveDevices;
  readonly zones: { readonly zone: string };
  /** Whether the server has answered that there are no devices. */
  readonly isEmpty: boolean;
}

/** The buttons that open the tools, as far as the user has the permissions for them. */
export function toolButtons({ tools, map, session }: ToolPanelsParts): TemplateResult {
  const { nearby, density, help } = tools;
  const hasMap = map.fault === null;
  const mayRead = session.may("read");
  return html`
    ${
      hasMap && mayRead
        ? html`
      <button aria-pressed=${nearby.isOpen} @click=${() => nearby.close() || nearby.aim()}>Nearby</button>
      <button aria-pressed=${density.isOpen} @click=${() => density.close() || density.open()}>Heatmap</button>`
        : nothing
    }
    ${hasMap ? html`<button @click=${() => map.fitAll()}>Fit all</button>` : nothing}
    ${mayRead ? html`<button @click=${() => tools.making.use(({ share }) => share.open())}>Share</button>` : nothing}
    ${session.may("write") ? html`<button @click=${() => tools.making.use(({ connect }) => connect.open())}>Connect</button>` : nothing}
    <button @click=${() => help.open()}>Help</button>`;
}

/** The panels over the map. */
export function mapCards({ tools, map, session, live, zones, isEmpty }: ToolPanelsParts): TemplateResult {
  const { chosen, nearby, density, making } = tools;
  const { loaded, fault } = making;
  const { zone } = zones;
  if (isEmpty && loaded === null && fault === null && session.may("read")) void making.use();
  return html`<section class="cards" aria-label="Tools">
    ${visitorBanner(session.facts!, zone)} ${stoppedCard(live)}
    ${session.may("read") ? streetsHint(map.streetsHint) : nothing}
    ${fault === null ? nothing : html`<p class="visitor fault" role="alert">${fault}</p>`}
    ${densityPanel(density, zone)} ${nearbyPanel({ nearby, chosen, zone })}
    ${session.may("read") ? loaded?.emptyPage(isEmpty, session.may("write")) : nothing}
  </section>`;
}

/** The dialogs over the page. */
export function toolWindows({ tools }: ToolPanelsParts): TemplateResult {
  return html`${helpDialog(tools.help)} ${tools.making.loaded?.dialogs()}`;
}
