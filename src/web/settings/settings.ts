import { type Units, unitsOf } from "../geo/units.ts";

export type HourCycle = "h12" | "h23";

/** 0 is Sunday, 1 is Monday, 6 is Saturday. */
export type WeekStart = 0 | 1 | 6;

/** What the user chose; null where the browser decides, by its language, its system and its clock. */
export interface SettingsValues {
  readonly units: Units | null;
  readonly zone: string | null;
  readonly hourCycle: HourCycle | null;
  readonly weekStart: WeekStart | null;
  readonly theme: "light" | "dark" | null;
  /** Where devices have been is the ground of cities without streets, unless the user hides it. */
  readonly tracks: "hidden" | null;
  /** Positions less accurate than this, in meters, are suspicious; null if the accuracy does not matter. */
  readonly accuracyMax: (typeof ACCURACY_LIMITS)[number] | null;
}

export const ACCURACY_LIMITS = [20, 50, 100, 200, 500, 1000] as const;

export const AUTOMATIC: SettingsValues = {
  units: null,
  zone: null,
  hourCycle: null,
  weekStart: null,
  theme: null,
  tracks: null,
  accuracyMax: null,
};

/** The allowed values; of a zone any text, since browsers differ in the zones that they know. */
const ALLOWED = {
  units: ["miles", "metric"],
  hourCycle: ["h12", "h23"],
  weekStart: [0, 1, 6],
  theme: ["light", "dark"],
  tracks: ["hidden"],
  accuracyMax: ACCURACY_LIMITS,
} as const;

const NAME = "wherehouse-settings";

/** The used part of the browser's window. */
export interface SettingsWindow {
  readonly navigator: { readonly language: string };
  /** Reading this throws if the browser allows no storage. */
  readonly localStorage: Pick<Storage, "getItem" | "setItem">;
}

/** The user's settings. The browser remembers them for the next visit, if it can. */
export class Settings {
  readonly #window: SettingsWindow;
  readonly #listeners: (() => void)[] = [];
  #values: SettingsValues;

  constructor(window: SettingsWindow) {
    this.#window = window;
    this.#values = this.#load();
  }

  get values(): SettingsValues {
    return this.#values;
  }

  /** The chosen units, or else those of the browser's region. */
  get units(): Units {
    return this.#values.units ?? unitsOf(this.#window.navigator.language);
  }

  set(change: Partial<SettingsValues>): void {
    this.#values = { ...this.#values, ...change };
    this.#store();
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  #load(): SettingsValues {
    try {
      return parseSettings(this.#window.localStorage.getItem(NAME));
    } catch {
      return AUTOMATIC;
    }
  }

  /** Without storage, or if it is full, the settings last as long as the page is open. */
  #store(): void {
    try {
      this.#window.localStorage.setItem(NAME, JSON.stringify(this.#values));
    } catch {
      return;
    }
  }
}

/** Parses stored settings. A value that is not allowed counts as not chosen, and does not affect the others. */
export function parseSettings(text: string | null): SettingsValues {
  const stored = parseObject(text ?? "");
  return {
    units: allowed(ALLOWED.units, stored.units),
    zone: typeof stored.zone === "string" ? stored.zone : null,
    hourCycle: allowed(ALLOWED.hourCycle, stored.hourCycle),
    weekStart: allowed(ALLOWED.weekStart, stored.weekStart),
    theme: allowed(ALLOWED.theme, stored.theme),
    tracks: allowed(ALLOWED.tracks, stored.tracks),
    accuracyMax: allowed(ALLOWED.accuracyMax, stored.accuracyMax),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function allowed<Value>(values: readonly Value[], value: unknown): Value | null {
  return values.find((each) => each === value) ?? null;
}
