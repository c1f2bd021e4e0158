import { html, nothing, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import type { LateCorrections } from "../device/device-parts.ts";
import type { LiveDevices } from "../devices/live.ts";
import { connectionCard } from "../devices/live-badge.ts";
import type { FileImport } from "../import/file-import.ts";
import type { MapView } from "../map/map-view.ts";
import { streetsHint } from "../map/streets-hint.ts";
import type { Session } from "../session/session.ts";
import { visitorBanner } from "../session/visitor.ts";
import type { Settings } from "../settings/settings.ts";
import { faultNote } from "../shell/fault-note.ts";
import { icon } from "../shell/icons.ts";
import type { ZoneChoice } from "../time/zone-choice.ts";
import { densityPanel } from "./density-panel.ts";
import { helpDialog } from "./help.ts";
import { nearbyPanel } from "./nearby-panel.ts";
import type { Tools } from "./tools.ts";

/* The tools' buttons, panels and dialogs. */

interface ToolPanelsParts {
  readonly tools: Tools;
  readonly imports: FileImport;
  readonly map: Pick<MapView, "streetsHint">;
  readonly device: { readonly corrections: LateCorrections };
  readonly session: Session;
  readonly live: LiveDevices;
  readonly api: Pick<Api, "retries">;
  readonly zones: ZoneChoice;
  readonly settings: Settings;
  /** Whether the server has answered that there are no devices. */
  readonly isEmpty: boolean;
}

type ButtonParts = Pick<ToolPanelsParts, "tools" | "session"> & {
  readonly map: Pick<MapView, "fault" | "fitAll">;
};

/** The buttons of the map's tools, as far as the user has the permissions for them. */
export function toolButtons({ tools, map, session }: ButtonParts): TemplateResult | typeof nothing {
  const { nearby, density, lapse, fences } = tools;
  if (map.fault !== null) return nothing;
  return html`${
    session.may("read")
      ? html`
      <button class="tool" aria-pressed=${nearby.isOpen} @click=${() => nearby.close() || nearby.aim()}>
        ${icon("nearby")}<span>Nearby</span></button>
      <button class="tool" aria-pressed=${fences.loaded?.isOpen ?? false} @click=${() => tools.toggleFences()}>
        ${icon("fence")}<span>Geofences</span></button>
      <button class="tool" aria-pressed=${density.isOpen} @click=${() => density.close() || density.open()}>
        ${icon("heatmap")}<span>Heatmap</span></button>
      <button class="tool" @click=${() => lapse.use((part) => part.open())}>
        ${icon("lapse")}<span>Time lapse</span></button>`
      : nothing
  }
    <button class="tool" @click=${() => map.fitAll()}>${icon("fit")}<span>Fit all</span></button>`;
}

/** The buttons that create keys: for share links and for phones. */
export function keyButtons({ tools: { making }, session }: ButtonParts): TemplateResult {
  return html`${
    session.may("write")
      ? html`<button class="tool tonal" @click=${() => making.use(({ connect }) => connect.open())}>
        ${icon("connect")}<span>Connect</span></button>`
      : nothing
  }${
    session.may("read")
      ? html`<button class="tool primary" @click=${() => making.use(({ share }) => share.open())}>
        ${icon("share")}<span>Share</span></button>`
      : nothing
  }`;
}

/** The panels over the map. */
export function mapCards({
  tools,
  imports,
  map,
  device,
  session,
  live,
  api,
  zones,
  settings,
  isEmpty,
}: ToolPanelsParts): TemplateResult {
  const { table, chosen, nearby, density, making, fences } = tools;
  const { loaded } = making;
  const late = [making, tools.settings, tools.lapse, tools.fences].find(({ fault }) => fault !== null);
  const { zone } = zones;
  if (isEmpty && loaded === null && making.fault === null && session.may("read")) void making.use();
  const faults = [
    connectionCard(live, () => api.retries.wake()),
    late === undefined
      ? nothing
      : faultNote(late.fault!, { label: "Try again", act: () => late.retry() }, "visitor"),
    imports.faultNote(),
  ].filter((fault) => fault !== nothing);
  const move = device.corrections.loaded?.card() ?? null;
  // Several notes would hide the chosen device.
  const isHinted = faults.length === 0 && move === null && session.may("read");
  return html`<section class="cards" aria-label="Tools">
    ${visitorBanner(session.facts!, zone)} ${faults}
    ${move ?? nothing} ${isHinted ? streetsHint(map.streetsHint) : nothing}
    ${densityPanel(density, zone, settings.units)} ${nearbyPanel({ nearby, table, chosen, zone })}
    ${fences.loaded?.panel() ?? nothing}
    ${session.may("read") ? loaded?.emptyPage(isEmpty, session.may("write")) : nothing}
  </section>`;
}

/** The dialogs over the page. */
export function toolWindows({ tools, imports, settings, zones, session }: ToolPanelsParts): TemplateResult {
  return html`${helpDialog(tools.help)} ${tools.making.loaded?.dialogs()}
  ${tools.settings.loaded?.draw({ settings, zones, facts: session.facts })} ${imports.windows()}`;
}
