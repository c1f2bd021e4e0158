import { html, nothing, type TemplateResult } from "lit-html";
import { Copying, copyLines } from "../keys/copying.ts";
import type { SessionFacts } from "../session/session.ts";
import { dialog } from "../shell/dialog.ts";
import { dayMinuteText } from "../time/format.ts";
import { type ZoneChoice, zoneSelect } from "../time/zone-choice.ts";
import { fullKeyCommand, keyRights } from "./key-rights.ts";
import { settingSelect } from "./setting-fields.ts";
import type { Settings } from "./settings.ts";

interface SettingsDialogParts {
  readonly settings: Settings;
  readonly zones: ZoneChoice;
  readonly facts: SessionFacts | null;
}

/** The dialog of all settings. Its code is loaded when a user first opens it. */
export class SettingsDialog {
  readonly #changed: () => void;
  readonly #copying: Copying;
  #isOpen = false;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.#copying = new Copying(changed);
  }

  open(): void {
    this.#isOpen = true;
    this.#changed();
  }

  close(): void {
    this.#isOpen = false;
    this.#changed();
  }

  draw({ settings, zones, facts }: SettingsDialogParts): TemplateResult | typeof nothing {
    if (!this.#isOpen) return nothing;
    const body = html`<div class="settings">
        ${settingSelect("units", settings)} ${zoneSelect(zones)} ${settingSelect("hourCycle", settings)}
        ${settingSelect("weekStart", settings)} ${settingSelect("theme", settings)}
        ${facts === null || facts.view !== null ? nothing : settingSelect("tracks", settings)}
      </div>
      <p class="soft">This browser remembers the settings.</p>
      ${facts === null || facts.view !== null ? nothing : this.#keySection(facts, zones.zone)}`;
    return dialog({ name: "settings", title: "Settings", body, closed: () => this.close() });
  }

  #keySection(facts: SessionFacts, zone: string): TemplateResult {
    const command = fullKeyCommand(facts);
    return html`<h3>Your key</h3>
      <ul class="rights">
        ${keyRights(facts).map(
          ({ what, permission, isGranted }) => html`<li>
            <span class="right-mark" aria-hidden="true">${isGranted ? "✓" : "–"}</span>
            <span>${isGranted ? "It may" : "It may not"} ${what}${isGranted ? nothing : html`: that needs <code>${permission}</code>`}.</span>
          </li>`,
        )}
      </ul>
      ${facts.expires === null ? nothing : html`<p class="soft">It expires on ${dayMinuteText(facts.expires, zone)}.</p>`}
      ${
        command === null
          ? nothing
          : html`<p>The permissions of a key don't change. Create one that may do all of this, where the server runs,
              with <code>--data-dir</code> if its data is elsewhere. Then sign out, and sign in with that key.</p>
            ${copyLines("Command", command, this.#copying)}`
      }`;
  }
}
