import { html, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { live } from "lit-html/directives/live.js";

/** Where the user's choice is remembered. */
interface ZoneMemory {
  /** Null is the browser's own zone. */
  readonly values: { readonly zone: string | null };
  set(change: { readonly zone: string | null }): void;
}

/** The zone of all times and days on the page: the one in the address, or else the remembered one. */
export class ZoneChoice {
  readonly #memory: ZoneMemory;
  readonly #changed: () => void;
  readonly #own = browserZone();
  #zone: string;

  constructor(memory: ZoneMemory, changed: () => void) {
    this.#memory = memory;
    this.#changed = changed;
    this.#zone = this.#usual;
  }

  get zone(): string {
    return this.#zone;
  }

  /** Whether it follows the browser's own. */
  get isAutomatic(): boolean {
    return this.#memory.values.zone === null && this.#zone === this.#own;
  }

  /** Whether the address has to name it: a browser that has no or another memory would show another zone. */
  get isChosen(): boolean {
    return this.#zone !== this.#own || this.#zone !== this.#usual;
  }

  /** Sets the zone of an address if there is one with this name; null is the remembered zone. */
  set(zone: string | null): void {
    const named = zone === null ? this.#usual : zoneNamed(zone);
    if (named === null || named === this.#zone) return;
    this.#zone = named;
    this.#changed();
  }

  /** Sets the zone, and remembers it; null is the browser's own. */
  choose(zone: string | null): void {
    this.#memory.set({ zone: zone === null ? null : zoneNamed(zone) });
    this.set(null);
  }

  get #usual(): string {
    const { zone } = this.#memory.values;
    return (zone === null ? null : zoneNamed(zone)) ?? this.#own;
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
  const choose = ({ target }: Event) => choice.choose((target as HTMLSelectElement).value || null);
  return html`<label class="setting">Times in
    <select @change=${choose}>${guard([choice.zone, choice.isAutomatic], () => zoneOptions(choice))}</select>
  </label>`;
}

/** Guarded above, since comparing 450 options in each frame would be slow. */
function zoneOptions({ zone, isAutomatic }: ZoneChoice): TemplateResult {
  return html`<option value="" .selected=${live(isAutomatic)}>${browserZone()} (automatic)</option>
    ${zonesWith(zone).map((name) => html`<option value=${name} .selected=${live(!isAutomatic && name === zone)}>${name}</option>`)}`;
}
