import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { previewSection } from "../fences/preview-section.ts";
import { scheduleField } from "../fences/schedule-field.ts";
import { choiceChips } from "../items/choice-chips.ts";
import {
  checkbox,
  deleteDialog,
  faultBeside,
  itemForm,
  numberField,
  textField,
  textIn,
} from "../items/form-fields.ts";
import { ALERT_TYPES, type AlertType } from "./alert.ts";
import type { AlertDraft } from "./alert-draft.ts";
import { TYPE_LABELS, unitOf } from "./alert-texts.ts";
import type { Alerts } from "./alerts.ts";

/** The form of a new alert, or of one that is there. */
export function alertForm(alerts: Alerts, draft: AlertDraft): TemplateResult {
  const { editor, zone } = alerts;
  const { fault } = editor;
  const { type, limit, name, schedule, confirmSeconds } = draft;
  const choose = (event: Event) => editor.set({ type: textIn(event) as AlertType, limit: "" }, type);
  const limitField = { name: type, label: TYPE_LABELS[type], fault, value: limit };
  const secondsField = { name: "confirm_seconds", label: "For at least", fault, value: confirmSeconds };
  const fields = html`<label class="item-number"><span>About</span>
      <select @change=${choose}>
        ${ALERT_TYPES.map(
          (each) => html`<option value=${each} .selected=${live(each === type)}>${ABOUT[each]}</option>`,
        )}
      </select></label>
    ${numberField({ ...limitField, set: (text) => editor.set({ limit: text }, type) }, { unit: unitOf(type, draft.units), isRequired: true })}
    ${
      type === "silent_for"
        ? nothing
        : numberField(
            { ...secondsField, set: (text) => editor.set({ confirmSeconds: text }, "confirm_seconds") },
            { unit: "s" },
          )
    }
    ${textField({ name: "name", label: "Name", fault, value: name, set: (text) => editor.set({ name: text }, "name") })}
    ${choiceChips(alerts.devices, "Only of these devices")} ${faultBeside(fault, "devices")}
    ${scheduleField({
      ...{ schedule, zone, fault },
      set: (change) => editor.set((before) => ({ schedule: change(before.schedule) }), "schedule"),
    })}
    ${checkbox("It makes events", draft.isActive, (isActive) => editor.set({ isActive }, "active"))}`;
  const consequence = "It makes no more events. What it tells of now ends.";
  return html`${itemForm({ editor, draft, fields, cancel: () => alerts.leave() })}
    ${previewSection(alerts)}
    ${deleteDialog(editor, { noun: "alert", name, consequence })}`;
}

const ABOUT: Readonly<Record<AlertType, string>> = {
  speed_above: "Speed",
  battery_below: "Battery",
  silent_for: "Silence",
};
