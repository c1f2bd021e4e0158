/** The zone that all times are shown in, and whose days are looked at. */
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

  /** Takes what is the name of a zone and nothing else; null is the browser's own. */
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

/** All there are, those that a browser leaves out of its list among them. */
export function zonesWith(zone: string): readonly string[] {
  return [...new Set(["UTC", zone, browserZone(), ...Intl.supportedValuesOf("timeZone")])].sort();
}

function zoneNamed(text: string): string | null {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return null; // A RangeError is the only way to ask.
  }
}
