import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import type { Bounds } from "../geo/bounds.ts";
import { counted, countText, type Units } from "../geo/units.ts";
import { itemSuggestions } from "../items/item-suggestions.ts";
import { copyLines } from "../keys/copying.ts";
import { dialog } from "../shell/dialog.ts";
import { dayMinuteText } from "../time/format.ts";
import { filesOf, type QueuedFile } from "./chosen-files.ts";
import { importCommand, sizeText } from "./file-plan.ts";
import {
  areaText,
  boundsOfLines,
  conflictText,
  devicesText,
  formatName,
  type ImportAnswer,
  leftOutTexts,
  positionsText,
  remarkTexts,
  resultTexts,
  tooOldCount,
} from "./import-answer.ts";
import type { Fault, Step } from "./import-step.ts";
import type { Importing } from "./importing.ts";

/* The dialog that previews and imports files. It leaves the map visible, which shows the line. */

export function importDialog(importing: Importing, units: Units): TemplateResult | typeof nothing {
  if (!importing.isOpen) return nothing;
  const { file, place } = importing;
  const head =
    file === null
      ? nothing
      : html`<p class="import-name"><strong class="name">${file.name}</strong>
          <span class="soft">${file.isFolder ? "folder" : sizeText(file.size)}${place === null ? nothing : `, file ${place.number} of ${place.count}`}</span></p>`;
  const body = html`${head} ${file === null ? chooser(importing) : content(importing, file, units)}`;
  return dialog({ name: "import-file", title: "Import a file", body, closed: () => importing.close() });
}

function chooser(importing: Importing): TemplateResult {
  const choose = (event: Event) => {
    const input = event.currentTarget as HTMLInputElement;
    importing.open(filesOf(input.files ?? []));
    input.value = "";
  };
  return html`<p>A GPX, KML or GeoJSON file of at most 16 MiB. You see what is in it before anything is stored.</p>
    <label class="import-chooser">Choose files, or drop them on the page
      <input type="file" multiple @change=${choose}>
    </label>
    <p class="soft">For other files, such as a Google Takeout, you get the command that imports them.</p>`;
}

function content(importing: Importing, file: QueuedFile, units: Units): TemplateResult {
  const { step } = importing;
  switch (step.kind) {
    case "choose":
      return html``;
    case "command":
      return html`<p>${step.reason} The import command reads such files.</p>
        ${command(importing, file)} ${nextButtons(importing)}`;
    case "looking":
    case "preview":
      return filePart(importing, file, step, units);
    case "importing":
      return html`${progress("Importing", step.sentShare, importing)}
        <div class="import-buttons"><button @click=${() => importing.cancel()}>Cancel</button></div>`;
    case "done":
      return result(step.answer, importing);
  }
}

/** Looking again, for another device, leaves everything in its place. */
function filePart(
  importing: Importing,
  file: QueuedFile,
  step: Extract<Step, { readonly kind: "looking" | "preview" }>,
  units: Units,
): TemplateResult {
  const { answer } = step;
  const fault = step.kind === "preview" ? step.fault : null;
  return html`${deviceChoice(importing, answer)}
    ${step.kind === "looking" ? progress("Reading the file", step.sentShare, importing) : nothing}
    ${fault === null ? nothing : faultPart(fault, importing, file)}
    <div class="import-preview" aria-busy=${step.kind === "looking" ? "true" : "false"}>
      ${answer === null ? nothing : preview(answer, importing, units)}
    </div>
    ${importButtons(answer, importing)}`;
}

function progress(words: string, sentShare: number, { waiting }: Importing): TemplateResult {
  const percent = Math.floor(100 * sentShare);
  const text = waiting ?? (sentShare > 0 && sentShare < 1 ? `${words}: ${percent} % is sent.` : `${words}…`);
  return html`<label class="import-progress" role="status"><span>${text}</span>
    ${sentShare > 0 && sentShare < 1 ? html`<progress max="100" .value=${percent}></progress>` : html`<progress></progress>`}
  </label>`;
}

/** All positions go to one device, or to those that the file names. */
function deviceChoice(importing: Importing, answer: ImportAnswer | null): TemplateResult {
  const { deviceId, search } = importing;
  const commit = (id: string) => {
    if (id.trim() !== "") importing.setDevice(id.trim());
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    commit(search);
  };
  const isTyping = search.trim() !== "" && search !== deviceId;
  return html`<fieldset class="import-device">
    <legend>Device</legend>
    <label><input type="radio" name="import-device" .checked=${live(deviceId === null)}
      @change=${() => importing.setDevice(null)}> As the file says${deviceId === null && answer !== null ? `: ${devicesText(answer)}` : nothing}</label>
    <label><input type="radio" name="import-device" .checked=${live(deviceId !== null)} ?disabled=${deviceId === null && search.trim() === ""}
      @change=${() => commit(search)}> One device${deviceId === null || isTyping ? nothing : importing.isKnown(deviceId) ? ":" : ", which is new:"}</label>
    <input type="search" aria-label="Device to import into" placeholder="Search, or type a new name" autocomplete="off" maxlength="128"
      .value=${live(search)} @keydown=${press}
      @input=${(event: Event) => importing.type((event.target as HTMLInputElement).value)}>
    ${
      isTyping
        ? itemSuggestions(importing.suggestions(), {
            labelOf: (id) => importing.labelOf(id),
            choose: commit,
            last: importing.isKnown(search.trim())
              ? nothing
              : html`<li><button type="button" class="suggestion" @click=${() => commit(search)}>New device “${search.trim()}”</button></li>`,
          })
        : nothing
    }
  </fieldset>`;
}

function faultPart(fault: Fault, importing: Importing, file: QueuedFile): TemplateResult {
  return html`<p class="fault" role="alert">${fault.sentence}</p>
    ${
      fault.needsZone
        ? html`<button class="next-step" @click=${() => importing.useZone()}>Read times as ${importing.pageZone}</button>`
        : fault.hasCommand
          ? command(importing, file)
          : html`<button class="next-step" @click=${() => importing.look()}>Try again</button>`
    }`;
}

function preview(answer: ImportAnswer, importing: Importing, units: Units): TemplateResult {
  const { first, last } = answer;
  const zone = importing.pageZone;
  const bounds = boundsOfLines(answer);
  const conflict = conflictText(answer);
  const leftOut = leftOutTexts(answer);
  const remarks = remarkTexts(answer);
  return html`<dl class="facts">
      <dt>Format</dt><dd>${formatName(answer)}<br><span class="soft">${answer.recognized_by}</span></dd>
      <dt>Positions</dt><dd>${positionsText(answer)}</dd>
      ${first === undefined ? nothing : html`<dt>First</dt><dd>${dayMinuteText(first, zone)}</dd>`}
      ${last === undefined ? nothing : html`<dt>Last</dt><dd>${dayMinuteText(last, zone)}</dd>`}
      ${bounds === null || isPoint(bounds) ? nothing : html`<dt>Area</dt><dd>${areaText(bounds, units)}</dd>`}
      ${importing.zone === null ? nothing : html`<dt>Times</dt><dd>without a zone are those of ${importing.zone}</dd>`}
    </dl>
    ${answer.usable === 0 ? html`<p>Nothing in this file can be imported.</p>` : nothing}
    ${answer.fault === undefined ? nothing : html`<p class="warning">The file can't be read to its end: ${answer.fault}. What comes before can be imported.</p>`}
    ${conflict === null ? nothing : html`<p>${conflict}</p>`}
    ${list("Left out", leftOut)} ${list("Changed", remarks)}
    ${oldChoice(answer, importing)}`;
}

function isPoint({ west, south, east, north }: Bounds): boolean {
  return west === east && south === north;
}

/** Positions before the retention would refuse the whole file. */
function oldChoice(answer: ImportAnswer, importing: Importing): TemplateResult | typeof nothing {
  const count = tooOldCount(answer);
  if (count === 0 || answer.usable === 0) return nothing;
  return html`<label class="import-check"><input type="checkbox" .checked=${live(importing.isSkippingOld)}
      @change=${(event: Event) => importing.skipOld((event.target as HTMLInputElement).checked)}>
    Import without ${countText(count)} from before the retention. <code>settings set retention</code> on the server keeps them.</label>`;
}

function list(title: string, texts: readonly string[]): TemplateResult | typeof nothing {
  if (texts.length === 0) return nothing;
  return html`<div><h3>${title}</h3><ul class="import-list">${texts.map((text) => html`<li>${text}</li>`)}</ul></div>`;
}

function command({ origin, deviceId, copying }: Importing, file: QueuedFile): TemplateResult {
  return html`<div class="import-command">
    ${copyLines("In a folder of the program, with a key that may write", importCommand(file.name, origin, deviceId), copying)}
    <p class="soft">With <code>--dry-run</code> it stores nothing, and says what is in the file.</p>
  </div>`;
}

function importButtons(answer: ImportAnswer | null, importing: Importing): TemplateResult {
  const count = answer?.usable ?? 0;
  return html`<div class="import-buttons">
    ${count === 0 ? nothing : html`<button class="primary" ?disabled=${!importing.isReady} @click=${(event: Event) => begin(event, importing)}>Import ${counted(count, "position")}</button>`}
    <button @click=${() => importing.next()}>${importing.hasNext ? (count === 0 ? "Next file" : "Skip this file") : "Another file"}</button>
  </div>`;
}

/** The pressed button goes, so the focus moves to the one that stops the import, and then to what comes next. */
async function begin(event: Event, importing: Importing): Promise<void> {
  const element = (event.currentTarget as HTMLElement).closest("dialog")!;
  const focus = () =>
    requestAnimationFrame(() => element.querySelector<HTMLElement>(".import-buttons button")?.focus());
  const end = importing.begin();
  focus();
  await end;
  focus();
}

function nextButtons(importing: Importing): TemplateResult {
  return html`<div class="import-buttons">
    <button @click=${() => importing.next()}>${importing.hasNext ? "Next file" : "Another file"}</button>
  </div>`;
}

function result(answer: ImportAnswer, importing: Importing): TemplateResult {
  const [first, ...others] = resultTexts(answer);
  return html`<div class="import-result" role="status"><p><strong>${first}</strong></p>${others.map((text) => html`<p>${text}</p>`)}</div>
    ${answer.fault === undefined ? nothing : html`<p class="warning">The file could not be read to its end: ${answer.fault}.</p>`}
    ${list("Left out", leftOutTexts(answer))}
    <div class="import-buttons">
      ${importing.hasNext ? html`<button class="primary" @click=${() => importing.next()}>Next file</button>` : nothing}
      ${answer.last === undefined ? nothing : html`<button class=${importing.hasNext ? "" : "primary"} @click=${() => importing.showDay()}>Show the day</button>`}
      ${importing.hasNext ? nothing : html`<button @click=${() => importing.next()}>Another file</button>`}
    </div>`;
}
