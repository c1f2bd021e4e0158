import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { colorChoices } from "../shell/color-choices.ts";
import { dialog } from "../shell/dialog.ts";
import {
  type DraftSchedule,
  extentField,
  type FenceDraft,
  FINE_FIELDS,
  type NumberField,
  RULE_FIELDS,
  WEEKDAYS,
} from "./fence-draft.ts";
import type { FenceEditor } from "./fence-editor.ts";
import { dayName, scheduleText } from "./fence-texts.ts";
import type { Fencing } from "./fencing.ts";
import { previewSection } from "./preview-section.ts";

/* The form of a geofence. What the server does not accept stands beside the member that it names. */

const NAME_CHARACTERS_MAX = 128;
/** The radius of a circle at the map's center. */
const FIRST_RADIUS_METERS = 100;

/** The form of a new geofence, or of one that is there. */
export function fenceForm(fences: Fencing, draft: FenceDraft): TemplateResult {
  const { editor } = fences;
  const submit = (event: Event) => {
    event.preventDefault();
    void editor.save();
  };
  const type = (event: Event) => editor.set({ name: textIn(event) }, "name");
  const { fault } = editor;
  return html`<form class="fence-form" @submit=${submit}>
      ${shape(editor, draft)}
      <label class="fence-name">Name
        <input maxlength=${NAME_CHARACTERS_MAX} autocomplete="off" .value=${live(draft.name)} @input=${type}
          aria-describedby=${describedBy(editor, "name")}></label>
      ${faultBeside(editor, "name")}
      ${colorChoices(draft.color, (color) => editor.set({ color }, "color"))} ${faultBeside(editor, "color")}
      ${RULE_FIELDS.map((field) => numberField(field, editor, draft))}
      ${schedule(fences, draft)}
      <details ?open=${FINE_FIELDS.some(({ name }) => name === fault?.member)}>
        <summary>More rules</summary>
        ${FINE_FIELDS.map((field) => numberField(field, editor, draft))}
        ${checkbox("A device that is inside at first enters", draft.isInitialEvent, (isInitialEvent) =>
          editor.set({ isInitialEvent }, "initial"),
        )}
        ${checkbox("It makes events", draft.isActive, (isActive) => editor.set({ isActive }, "active"))}
      </details>
      ${fault === null || fault.member !== null ? nothing : html`<p class="fault" role="alert">${fault.text}</p>`}
      <div class="fence-buttons">
        <button class="primary" ?disabled=${editor.isSaving || draft.geometry === null}>
          ${editor.isSaving ? "Saving…" : "Save"}</button>
        <button type="button" ?disabled=${editor.isSaving} @click=${() => fences.leave()}>Cancel</button>
        ${
          draft.id === null
            ? nothing
            : html`<button type="button" class="danger" ?disabled=${editor.isSaving}
                @click=${() => editor.askToDelete(true)}>Delete…</button>`
        }
      </div>
    </form>
    ${draft.geometry === null ? nothing : previewSection(fences)} ${deleteDialog(editor, draft)}`;
}

/** What to do on the map, and the size. */
function shape(editor: FenceEditor, draft: FenceDraft): TemplateResult {
  const extent = extentField(draft.geometry);
  return html`<p role="status">${shapeHint(editor, draft)}</p>
    ${faultBeside(editor, "geometry")}
    ${
      editor.mode === "circle"
        ? html`<button type="button" @click=${() => editor.circleAtCenter(FIRST_RADIUS_METERS)}>
            Circle at the map's center</button>`
        : nothing
    }
    ${extent === null ? nothing : numberField(extent, editor, draft)}
    ${
      editor.mode === null
        ? html`<div class="fence-tools">
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

function numberField(field: NumberField, editor: FenceEditor, draft: FenceDraft): TemplateResult {
  const { name, label, unit } = field;
  const type = (event: Event) => {
    editor.set({ numbers: { ...draft.numbers, [name]: textIn(event) } }, name);
  };
  return html`<label class="fence-number"><span>${label}</span>
      <input type="number" min="0" step="any" inputmode="decimal" .value=${live(draft.numbers[name])} @input=${type}
        aria-describedby=${describedBy(editor, name)}>
      <span class="soft">${unit}</span></label>
    ${faultBeside(editor, name)}`;
}

function schedule({ editor, zone }: Fencing, draft: FenceDraft): TemplateResult {
  const weekly = (): DraftSchedule => {
    return { kind: "weekly", timezone: zone, days: WEEKDAYS.slice(0, 5), from: "08:00", to: "18:00" };
  };
  const set = (next: DraftSchedule) => editor.set({ schedule: next }, "schedule");
  const change = (event: Event) => set(textIn(event) === "always" ? { kind: "always" } : weekly());
  const { schedule: current } = draft;
  return html`<label class="fence-number"><span>In force</span>
      <select @change=${change}>
        <option value="always" .selected=${live(current.kind === "always")}>Always</option>
        <option value="weekly" .selected=${live(current.kind === "weekly")}>In weekly hours</option>
        ${
          current.kind === "other"
            ? html`<option value="other" .selected=${live(true)}>As it is</option>`
            : nothing
        }
      </select></label>
    ${current.kind === "other" ? html`<p class="soft">${scheduleText(current.schedule)}</p>` : nothing}
    ${current.kind === "weekly" ? hours(current, set) : nothing} ${faultBeside(editor, "schedule")}`;
}

function hours(
  current: DraftSchedule & { readonly kind: "weekly" },
  set: (next: DraftSchedule) => void,
): TemplateResult {
  const toggle = (day: string, isOn: boolean) =>
    set({ ...current, days: WEEKDAYS.filter((each) => (each === day ? isOn : current.days.includes(each))) });
  const time = (member: "from" | "to", label: string) => html`<input type="time" aria-label=${label}
    .value=${live(current[member])} @change=${(event: Event) => set({ ...current, [member]: textIn(event) })}>`;
  return html`<fieldset class="fence-days">
    <legend class="unseen">Weekdays</legend>
    ${WEEKDAYS.map((day) => checkbox(dayName(day), current.days.includes(day), (isOn) => toggle(day, isOn)))}
    <p class="fence-hours">${time("from", "From")} – ${time("to", "To")} <span class="soft">${current.timezone}</span></p>
  </fieldset>`;
}

function checkbox(label: string, isOn: boolean, set: (isOn: boolean) => void): TemplateResult {
  return html`<label class="fence-check"><input type="checkbox" .checked=${live(isOn)}
    @change=${(event: Event) => set((event.currentTarget as HTMLInputElement).checked)}>${label}</label>`;
}

function describedBy({ fault }: FenceEditor, member: string): string | typeof nothing {
  return fault?.member === member ? `fence-fault-${member}` : nothing;
}

function faultBeside({ fault }: FenceEditor, member: string): TemplateResult | typeof nothing {
  if (fault?.member !== member) return nothing;
  return html`<p class="fault" role="alert" id="fence-fault-${member}">${fault.text}</p>`;
}

function deleteDialog(editor: FenceEditor, draft: FenceDraft): TemplateResult | typeof nothing {
  if (!editor.isAskingToDelete) return nothing;
  const body = html`<p>It makes no more events. Devices that are inside leave it now.</p>
    <div class="fence-tools">
      <button @click=${() => editor.askToDelete(false)}>Keep it</button>
      <button class="danger" @click=${() => void editor.delete()}>Delete</button>
    </div>`;
  const title = `Delete ${draft.name === "" ? "this geofence" : `“${draft.name}”`}?`;
  return dialog({ name: "fence-delete", title, body, closed: () => editor.askToDelete(false) });
}

function textIn(event: Event): string {
  return (event.currentTarget as HTMLInputElement).value;
}
