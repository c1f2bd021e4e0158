import { html, nothing, type TemplateResult } from "lit-html";
import type { Api } from "../api/api.ts";
import { type DevicePanelParts, devicePanel } from "../device/device-panel.ts";
import type { DeviceParts } from "../device/device-parts.ts";
import { timeBar } from "../device/time-bar.ts";
import type { DeviceTable } from "../devices/device-table.ts";
import { listPanel } from "../devices/list-panel.ts";
import type { ListView } from "../devices/list-view.ts";
import type { LiveDevices } from "../devices/live.ts";
import { demoNote, listLoading } from "../devices/live-badge.ts";
import type { FileImport } from "../import/file-import.ts";
import { type MapView, mapPanel } from "../map/map-view.ts";
import type { Session } from "../session/session.ts";
import { signInForm, waitingPage } from "../session/sign-in.ts";
import { endedLink, isSharePath } from "../session/visitor.ts";
import type { Settings } from "../settings/settings.ts";
import type { ZoneChoice } from "../time/zone-choice.ts";
import { mapCards, toolWindows } from "../tools/tool-panels.ts";
import type { Tools } from "../tools/tools.ts";
import { header } from "./header.ts";
import { type Sheet, sheetHandle } from "./sheet.ts";
import type { Theme } from "./theme.ts";

/** The parts of the page that the shell draws. */
export interface ShellParts {
  readonly session: Session;
  readonly api: Pick<Api, "retries">;
  readonly theme: Theme;
  readonly sheet: Sheet;
  readonly table: DeviceTable;
  readonly live: LiveDevices;
  readonly listView: ListView;
  readonly map: MapView;
  readonly settings: Settings;
  readonly zones: ZoneChoice;
  readonly device: DeviceParts;
  readonly tools: Tools;
  readonly imports: FileImport;
}

interface LoadedParts extends ShellParts {
  /** Whether the server has answered that there are no devices. */
  readonly isEmpty: boolean;
}

/** The whole page in its current state. */
export function shell(parts: ShellParts): TemplateResult {
  const { session, table, live } = parts;
  const loaded = { ...parts, isEmpty: table.size === 0 && live.state === "live" };
  return html`${header(loaded)}${session.state === "in" ? nothing : signedOut(parts)}
  ${session.state === "in" ? signedIn(loaded) : nothing}${toolWindows(loaded)}`;
}

/** A visitor with a share link has no key to sign in with. */
function signedOut({ session, api }: ShellParts): TemplateResult | typeof nothing {
  if (session.waiting !== null) return waitingPage(session.waiting, () => api.retries.wake());
  if (session.state === "unknown") return nothing;
  return isSharePath(location.pathname) ? endedLink(session) : signInForm(session);
}

function signedIn(parts: LoadedParts): TemplateResult {
  const { sheet, live, listView, map, settings, device, api, session, tools } = parts;
  const { units } = settings;
  const { id, isView } = device.chosen;
  const onFence: DevicePanelParts["onFence"] = session.may("manage")
    ? (stay, track) => void tools.fences.use((fences) => fences.beginAtStop(stay, track))
    : null;
  const loading = listLoading(live, () => api.retries.wake());
  return html`<main class="map" id="map" aria-busy=${map.baseMap === null && map.fault === null}>${mapPanel(map)}</main>
    ${mapCards(parts)}
    <div class="sheet" data-tab=${sheet.tab} data-height=${sheet.height}>
      ${sheetHandle(sheet)}
      <section class="list" aria-label="Devices" aria-busy=${loading !== null}>
        ${listPanel({ view: listView, chosenId: id, loading, isView, units })}
        ${demoNote()}
      </section>
      <section class="device" ?data-idle=${id === null} aria-label="Device">${devicePanel({ ...device, map, units, onFence })}</section>
      <section class="time" ?data-idle=${id === null} aria-label="Day">${timeBar({ ...device, theme: parts.theme })}</section>
    </div>
    ${device.days.loaded?.dialogs(parts.theme.name)}${device.editor.loaded?.dialog()}
    ${device.corrections.loaded?.dialogs()}`;
}
