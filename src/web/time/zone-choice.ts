import { html, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { live } from "lit-html/directives/live.js";

/** The zone of all times and days on the page. */
export class ZoneChoice {
  readonly #changed: () => void;
  readonly #own = browserZone();
  #zone = this.#own;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get zone(): string {
    return this.#zone;
  }

  /** Whether it is not the browser's own. */
  get isChosen(): boolean {
    return this.#zone !== this.#own;
  }

  /** Sets the zone if it has this name; null is the browser's own zone. */
  set(zone: string | null): void {
    const named = zone === null ? this.#own : zoneNamed(zone);
    if (named === null || named === this.#zone) return;
    this.#zone = named;
    this.#changed();
  }
}

export function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** All zones, including those that a browser's list lacks. */
export function zonesWith(zone: string): readonly string[] {
  return [...new Set(["UTC", zone, browserZone(), ...Intl.supportedValuesOf("timeZone")])].sort();
}

function zoneNamed(text: string): string | null {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return null; // The constructor throws a RangeError for an unknown zone.
  }
}

/** The control that chooses the zone. */
export function zoneSelect(choice: ZoneChoice): TemplateResult {
  const choose = (event: Event) => choice.set((event.target as HTMLSelectElement).value);
  return html`<label class="zone">Times in
    <select @change=${choose}>${guard([choice.zone], () => zoneOptions(choice.zone))}</select>
  </label>`;
}

/** Guarded above, since comparing 450 options in each frame would be slow. */
function zoneOptions(zone: string): readonly TemplateResult[] {
  return zonesWith(zone).map((name) => html`<option .selected=${live(name === zone)}>${name}</option>`);
}
