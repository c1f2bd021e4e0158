import { html, nothing, type TemplateResult } from "lit-html";
import type { DeviceTable } from "../devices/device-table.ts";
import type { LiveDevices } from "../devices/live.ts";
import { liveBadge } from "../devices/live-badge.ts";
import type { FileImport } from "../import/file-import.ts";
import type { MapView } from "../map/map-view.ts";
import type { Session } from "../session/session.ts";
import { settingSelect } from "../settings/setting-fields.ts";
import type { Settings } from "../settings/settings.ts";
import { type ZoneChoice, zoneSelect } from "../time/zone-choice.ts";
import { keyButtons, toolButtons } from "../tools/tool-panels.ts";
import type { Tools } from "../tools/tools.ts";
import { icon } from "./icons.ts";
import type { Theme } from "./theme.ts";

/*
 * The header: the tools, what one does with devices, and a menu with the rest. On a phone the menu has the tools, too.
 * Both places have their buttons at all times, and the style sheet hides one of them.
 */

interface HeaderParts {
  readonly session: Session;
  readonly theme: Theme;
  readonly settings: Settings;
  readonly table: DeviceTable;
  readonly live: LiveDevices;
  readonly zones: ZoneChoice;
  readonly map: Pick<MapView, "fault" | "fitAll">;
  readonly tools: Tools;
  readonly imports: FileImport;
}

export function header(parts: HeaderParts): TemplateResult {
  const { session, theme, live, table } = parts;
  const isIn = session.state === "in";
  return html`<header class="bar">
    <h1 class="brand"><svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="7"></rect>
      <path d="M16 5l8 21-8-5-8 5z"></path></svg><span>Wherehouse</span></h1>
    ${isIn ? liveBadge(live, table) : nothing}
    <div class="bar-end">
      ${isIn ? html`<div class="tools">${toolButtons(parts)}</div><div class="actions">${keyButtons(parts)}</div>${menu(parts)}` : themeButton(theme)}
    </div>
  </header>`;
}

/** A menu of the page's own actions. It closes when a button in it is pressed. */
function menu(parts: HeaderParts): TemplateResult {
  const { session, theme, settings, zones, tools, imports } = parts;
  return html`<button class="quiet menu-button" aria-label="Menu" popovertarget="menu">${icon("menu")}</button>
    <div class="menu" id="menu" popover @click=${closeMenu} @keydown=${moveInMenu}>
      <div class="menu-tools">${toolButtons(parts)}${keyButtons(parts)}</div>
      <div class="menu-row">${icon("clock")}${zoneSelect(zones)}</div>
      <div class="menu-row">${icon("ruler")}${settingSelect("units", settings)}</div>
      ${themeButton(theme)}
      ${session.may("write") ? html`<button class="tool" @click=${() => imports.open()}>${icon("fileIn")}<span>Import a file</span></button>` : nothing}
      <button class="tool" @click=${() => tools.settings.use((loaded) => loaded.open())}>
        ${icon("settings")}<span>Settings</span></button>
      <button class="tool" @click=${() => tools.help.open()}>${icon("help")}<span>Help</span></button>
      <button class="tool" @click=${() => session.signOut()}>${icon("signOut")}<span>Sign out</span></button>
    </div>`;
}

function themeButton(theme: Theme): TemplateResult {
  const isDark = theme.name === "dark";
  return html`<button class="tool" @click=${() => theme.toggle()}>
    ${icon(isDark ? "sun" : "moon")}<span>${isDark ? "Light colors" : "Dark colors"}</span>
  </button>`;
}

function closeMenu({ target, currentTarget }: Event): void {
  if ((target as Element).closest("button") !== null) (currentTarget as HTMLElement).hidePopover();
}

/** The arrow keys move from entry to entry, except in a list of choices, where they choose. */
function moveInMenu(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const focused = event.target as Element;
  if (step === undefined || focused.tagName === "SELECT") return;
  const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("button, select")];
  const visible = entries.filter((entry) => entry.checkVisibility());
  const at = visible.indexOf(focused as HTMLElement);
  visible[(at + step + visible.length) % visible.length]?.focus();
  event.preventDefault();
}
