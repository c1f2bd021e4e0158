import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { itemSuggestions } from "../items/item-suggestions.ts";
import { dialog } from "../shell/dialog.ts";
import { faultNote } from "../shell/fault-note.ts";
import { ASSIGN, type Change, changeMembers, SHIFT, shiftedRange } from "./change.ts";
import type { Confirmation } from "./confirming.ts";
import type { Correcting } from "./correcting.ts";
import { noteField, submitTo } from "./correction-form.ts";
import { confirmText, confirmTitle, rangeText, selectionText } from "./correction-texts.ts";

/** Asks the user before anything is corrected, and says how many positions that are. */
export function confirmDialog(corrections: Correcting, confirmation: Confirmation): TemplateResult {
  const { deviceId, selection, change, records, isSending, fault } = confirmation;
  const { confirming } = corrections;
  const zone = corrections.history?.zone ?? "UTC";
  const isReady = records !== null && changeMembers(change) !== null;
  const body = html`<form class="correction-form" @submit=${submitTo(() => confirming.send())}>
    <p>${selectionText(selection, zone, records)}, of ${corrections.labelOf(deviceId)}.</p>
    ${change.action === "hide" ? nothing : changeFields(corrections, confirmation)}
    <p>Distance, stops and statistics change with them. Nothing is deleted: <b>Undo</b> shows them as they were.</p>
    ${noteField(confirming)}
    ${fault === null ? nothing : faultNote(fault, null)}
    <div class="correction-actions">
      <button type="button" ?disabled=${isSending} @click=${() => confirming.cancel()}>Cancel</button>
      <button class="primary" ?autofocus=${change.action === "hide"} ?disabled=${isSending || !isReady}>
        ${records === null && fault === null ? "Counting…" : confirmText(change, records, isSending)}</button>
    </div>
  </form>`;
  const title = confirmTitle(change, records);
  return dialog({ name: "correct", title, body, closed: () => confirming.cancel() });
}

/** The fields of a shift in time or of another device. */
function changeFields(corrections: Correcting, { selection, change }: Confirmation): TemplateResult {
  const { confirming } = corrections;
  const choose = (event: Event) =>
    confirming.set((event.target as HTMLSelectElement).selectedIndex === 0 ? SHIFT : ASSIGN);
  return html`<div class="change-fields">
    <label>What was wrong <select @change=${choose}>
      <option .selected=${live(change.action === "shift_time")}>The clock</option>
      <option .selected=${live(change.action === "assign")}>The device</option>
    </select></label>
    ${change.action === "shift_time" ? shiftFields(corrections, change, selection) : nothing}
    ${change.action === "assign" ? assignFields(corrections, change) : nothing}
  </div>`;
}

type Shift = Change & { readonly action: "shift_time" };

function shiftFields(
  { confirming, history }: Correcting,
  change: Shift,
  selection: Confirmation["selection"],
): TemplateResult {
  const members = changeMembers(change);
  const set = (part: Partial<Omit<Shift, "action">>) => {
    const now = confirming.confirmation?.change; // The user may be ahead of what is drawn.
    if (now?.action === "shift_time") confirming.set({ ...now, ...part });
  };
  const type = (event: Event) => set({ text: (event.target as HTMLInputElement).value });
  const choose = (event: Event) => set({ isLater: (event.target as HTMLSelectElement).selectedIndex === 0 });
  return html`<label>Shift by <input name="by" size="7" autocomplete="off" placeholder="h:mm"
      aria-describedby="shift-result" .value=${live(change.text)} @input=${type}></label>
    <select aria-label="Direction" @change=${choose}>
      <option .selected=${live(change.isLater)}>later</option>
      <option .selected=${live(!change.isLater)}>earlier</option>
    </select>
    <p class="soft" id="shift-result" role="status">${
      members?.action === "shift_time"
        ? `They are then at ${rangeText(shiftedRange(selection, members.by_ms), history?.zone ?? "UTC")}.`
        : "Hours and minutes, as 1:30."
    }</p>`;
}

type Assign = Change & { readonly action: "assign" };

function assignFields(corrections: Correcting, change: Assign): TemplateResult {
  const { confirming } = corrections;
  const { search, toDeviceId } = change;
  const type = (event: Event) =>
    confirming.set({ action: "assign", search: (event.target as HTMLInputElement).value, toDeviceId: null });
  const choose = (id: string) =>
    confirming.set({ action: "assign", search: corrections.labelOf(id), toDeviceId: id });
  const enter = (event: KeyboardEvent) => {
    const now = confirming.confirmation?.change; // The user may be ahead of what is drawn.
    if (event.key !== "Enter" || now?.action !== "assign" || now.toDeviceId !== null) return;
    event.preventDefault();
    const [first] = corrections.suggestDevices(now.search);
    if (first !== undefined) choose(first);
  };
  return html`<label class="assign-search">Give them to <input type="search" name="device" autocomplete="off"
      placeholder="Search for a device" .value=${live(search)} @input=${type} @keydown=${enter}></label>
    ${
      toDeviceId !== null || search.trim() === ""
        ? nothing
        : itemSuggestions(corrections.suggestDevices(search), {
            labelOf: (id) => corrections.labelOf(id),
            choose,
          })
    }`;
}
