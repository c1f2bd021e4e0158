import { html, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Settings, SettingsValues } from "./settings.ts";

/* The controls of settings that are a choice of a few values. */

type FieldName = Exclude<keyof SettingsValues, "zone" | "accuracyMax">;

interface Field<Name extends FieldName> {
  readonly label: string;
  /** The first one is the browser's. */
  readonly choices: readonly { readonly value: SettingsValues[Name]; readonly text: string }[];
}

const FIELDS: { readonly [Name in FieldName]: Field<Name> } = {
  units: {
    label: "Units",
    choices: [
      { value: null, text: "Automatic" },
      { value: "miles", text: "Miles" },
      { value: "metric", text: "Kilometers" },
    ],
  },
  hourCycle: {
    label: "Clock",
    choices: [
      { value: null, text: "Automatic" },
      { value: "h23", text: "24 hours" },
      { value: "h12", text: "12 hours" },
    ],
  },
  weekStart: {
    label: "Weeks begin on",
    choices: [
      { value: null, text: "Automatic" },
      { value: 1, text: "Monday" },
      { value: 0, text: "Sunday" },
      { value: 6, text: "Saturday" },
    ],
  },
  theme: {
    label: "Colors",
    choices: [
      { value: null, text: "Automatic" },
      { value: "light", text: "Light" },
      { value: "dark", text: "Dark" },
    ],
  },
  tracks: {
    label: "Own tracks as streets",
    choices: [
      { value: null, text: "Shown" },
      { value: "hidden", text: "Hidden" },
    ],
  },
};

export function settingSelect(name: FieldName, settings: Settings): TemplateResult {
  const { label, choices } = FIELDS[name];
  const choose = (event: Event) => {
    const { value } = choices[(event.target as HTMLSelectElement).selectedIndex]!;
    settings.set({ [name]: value });
  };
  return html`<label class="setting">${label}
    <select @change=${choose}>
      ${choices.map(({ value, text }) => html`<option .selected=${live(value === settings.values[name])}>${text}</option>`)}
    </select>
  </label>`;
}
