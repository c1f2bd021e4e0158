import { html, nothing, type TemplateResult } from "lit-html";
import { choiceChips } from "../items/choice-chips.ts";
import {
  checkbox,
  deleteDialog,
  faultBeside,
  itemForm,
  numberField,
  textField,
} from "../items/form-fields.ts";
import { colorChoices } from "../shell/color-choices.ts";
import { extentField, type FenceDraft, FINE_FIELDS, type NumberField, RULE_FIELDS } from "./fence-draft.ts";
import type { FenceEditor } from "./fence-editor.ts";
import type { Fencing } from "./fencing.ts";
import { previewSection } from "./preview-section.ts";
import { scheduleField } from "./schedule-field.ts";

/** The radius of a circle at the map's center. */
const FIRST_RADIUS_METERS = 100;

/** The form of a new geofence, or of one that is there. */
export function fenceForm(fences: Fencing, draft: FenceDraft): TemplateResult {
  const { editor, zone } = fences;
  const { form } = editor;
  const { fault } = form;
  const { name, schedule } = draft;
  const fields = html`${shape(editor, draft)}
    ${textField({ name: "name", label: "Name", fault, value: name, set: (text) => editor.set({ name: text }, "name") })}
    ${colorChoices(draft.color, (color) => editor.set({ color }, "color"))} ${faultBeside(fault, "color")}
    ${RULE_FIELDS.map((field) => rule(field, editor, draft))}
    ${scheduleField({
      ...{ schedule, zone, fault },
      set: (change) => editor.set((before) => ({ schedule: change(before.schedule) }), "schedule"),
    })}
    <details ?open=${[...FINE_FIELDS.map((field) => field.name), "devices"].some((member) => member === fault?.member)}>
      <summary>More rules</summary>
      ${choiceChips(fences.devices, "Only of these devices")} ${faultBeside(fault, "devices")}
      ${FINE_FIELDS.map((field) => rule(field, editor, draft))}
      ${checkbox("A device that is inside at first enters", draft.isInitialEvent, (isInitialEvent) =>
        editor.set({ isInitialEvent }, "initial"),
      )}
      ${checkbox("It makes events", draft.isActive, (isActive) => editor.set({ isActive }, "active"))}
    </details>`;
  const isComplete = draft.geometry !== null;
  const consequence = "It makes no more events. Devices that are inside leave it now.";
  return html`${itemForm({ editor: form, draft, fields, isComplete, cancel: () => fences.leave() })}
    ${isComplete ? previewSection(fences) : nothing}
    ${deleteDialog(form, { noun: "geofence", name, consequence })}`;
}

/** What to do on the map, and the size. */
function shape(editor: FenceEditor, draft: FenceDraft): TemplateResult {
  const extent = extentField(draft.geometry);
  return html`<p role="status">${shapeHint(editor, draft)}</p>
    ${faultBeside(editor.form.fault, "geometry")}
    ${
      editor.mode === "circle"
        ? html`<button type="button" @click=${() => editor.circleAtCenter(FIRST_RADIUS_METERS)}>
            Circle at the map's center</button>`
        : nothing
    }
    ${extent === null ? nothing : rule(extent, editor, draft)}
    ${
      editor.mode === null
        ? html`<div class="item-tools">
            <button type="button" @click=${() => editor.draw("circle")}>Draw a circle anew</button>
            <button type="button" @click=${() => editor.draw("polygon")}>Draw a polygon anew</button>
          </div>`
        : nothing
    }`;
}

function shapeHint({ mode }: FenceEditor, { geometry }: FenceDraft): string {
  if (mode === "circle") return "Click the center on the map, then the edge. Esc goes back.";
  if (mode === "polygon")
    return "Click the corners on the map, and the first one again at the end. Esc takes one back.";
  if (geometry?.type === "Point") return "Drag the circle to move it, or its edge.";
  if (geometry?.type === "Polygon" && geometry.coordinates.length === 1)
    return "Drag corners, or the dots between them. A right click removes a corner.";
  return "This shape can only be drawn anew.";
}

function rule(field: NumberField, editor: FenceEditor, draft: FenceDraft): TemplateResult {
  const { name, label, unit } = field;
  const { fault } = editor.form;
  const set = (text: string) =>
    editor.set(({ numbers }) => ({ numbers: { ...numbers, [name]: text } }), name);
  return numberField({ name, label, fault, value: draft.numbers[name], set }, { unit });
}
