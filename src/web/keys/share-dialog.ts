import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { dialog } from "../shell/dialog.ts";
import { dayMinuteText } from "../time/format.ts";
import { copyField } from "./copying.ts";
import { keyList } from "./key-list.ts";
import type { PageKey } from "./page-keys.ts";
import type { Share } from "./share.ts";
import { FROM, PRECISIONS, UNTIL } from "./share-terms.ts";

/** Makes links that show some devices to whoever has them, and ends them. */
export function shareDialog(share: Share): TemplateResult | typeof nothing {
  if (!share.isOpen) return nothing;
  const body = html`
    <p class="soft">Whoever has the link sees these devices on a map, and nothing else.</p>
    <form class="share-form" @submit=${(event: Event) => submit(event, share)}>
      ${devices(share)} ${terms(share)}
      ${share.fault === null ? nothing : html`<p class="fault" role="alert">${share.fault}</p>`}
      <button class="primary" ?disabled=${share.isMaking}>Make a link</button>
    </form>
    ${share.made === null ? nothing : madeLink(share, share.made.url)}
    ${keyList({
      title: "Links that work now",
      none: "None.",
      kind: "share",
      keys: share.keys,
      zone: share.zone,
      describe: (key) => describe(key, share.zone),
    })}`;
  return dialog({ name: "share", title: "Share", body, closed: () => share.close() });
}

async function submit(event: Event, share: Share): Promise<void> {
  event.preventDefault();
  const form = event.currentTarget as HTMLElement;
  await share.make();
  // Once it is drawn, the link is in sight and selected, wherever on the page it stands.
  requestAnimationFrame(() => form.parentElement?.querySelector<HTMLElement>(".made input")?.focus());
}

function devices(share: Share): TemplateResult {
  const suggestions = share.suggestions();
  const enter = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || share.search.trim() === "") return;
    event.preventDefault();
    if (suggestions[0] !== undefined) share.add(suggestions[0]);
  };
  return html`<fieldset>
    <legend>Devices</legend>
    ${
      share.deviceIds.length === 0
        ? nothing
        : html`<ul class="chips">
      ${share.deviceIds.map(
        (id) => html`<li><span class="name">${id}</span>
        <button type="button" class="quiet" aria-label="Leave out ${id}" @click=${() => share.remove(id)}>✕</button></li>`,
      )}
    </ul>`
    }
    <input type="search" aria-label="Search a device to add" placeholder="Search a device to add" autocomplete="off"
      .value=${live(share.search)} @keydown=${enter}
      @input=${(event: Event) => share.type((event.target as HTMLInputElement).value)}>
    ${
      share.search.trim() === ""
        ? nothing
        : html`<ul class="suggestions">
      ${suggestions.map((id) => html`<li><button type="button" class="suggestion" @click=${() => share.add(id)}>${id}</button></li>`)}
      ${suggestions.length === 0 ? html`<li class="soft" role="status">No other device has that in its name.</li>` : nothing}
    </ul>`
    }
  </fieldset>`;
}

function terms(share: Share): TemplateResult {
  const { until, ownUntil, from, ownFrom, precision } = share.terms;
  const chosenIndex = (event: Event) => (event.target as HTMLSelectElement).selectedIndex;
  const typed = (event: Event) => (event.target as HTMLInputElement).value;
  const own = (
    label: string,
    value: string,
    set: (text: string) => void,
  ) => html`<label class="own-time">${label}
    <input type="datetime-local" required .value=${live(value)} @input=${(event: Event) => set(typed(event))}>
    <span class="soft">${share.zone}</span></label>`;
  return html`<div class="share-terms">
    <label>It works <select @change=${(event: Event) => share.set({ until: chosenIndex(event) })}>
      ${UNTIL.map(({ label }, index) => html`<option .selected=${live(index === until)}>${label}</option>`)}
    </select></label>
    ${UNTIL[until]!.hours === null ? own("Until", ownUntil, (text) => share.set({ ownUntil: text })) : nothing}
    <label>It shows positions from <select @change=${(event: Event) => share.set({ from: chosenIndex(event) })}>
      ${FROM.map(({ label }, index) => html`<option .selected=${live(index === from)}>${label}</option>`)}
    </select></label>
    ${lastText(share)}
    ${FROM[from]!.kind === "own" ? own("From", ownFrom, (text) => share.set({ ownFrom: text })) : nothing}
    <label>It shows them <select @change=${(event: Event) => share.set({ precision: chosenIndex(event) })}>
      ${PRECISIONS.map(({ label }, index) => html`<option .selected=${live(index === precision)}>${label}</option>`)}
    </select></label>
    <label>For whom <input maxlength="100" autocomplete="off" placeholder="only you see this"
      @input=${(event: Event) => {
        share.label = typed(event);
      }}></label>
  </div>`;
}

/** The time that "the last one on" stands for. */
function lastText(share: Share): TemplateResult | typeof nothing {
  const range = share.lastRange();
  if (range === null) return nothing;
  const { fromMs, silentIds } = range;
  const silent =
    silentIds.length === 0
      ? ""
      : ` Devices that were silent for more than a day are shown once they report again: ${namesText(silentIds)}.`;
  return html`<p class="soft">That is since ${dayMinuteText(fromMs, share.zone)}.${silent}</p>`;
}

function madeLink({ copying }: Share, url: string): TemplateResult {
  return html`<section class="made" aria-label="The new link">
    <p role="status">Here is the link. It is shown only now: copy it.</p>
    ${copyField("Link", url, copying)}
  </section>`;
}

/** As in "bus-1, bus-2, bus-3 and 7 more". */
function namesText(ids: readonly string[]): string {
  return ids.length > 3 ? `${ids.slice(0, 3).join(", ")} and ${ids.length - 3} more` : ids.join(", ");
}

/** What a link shows, and until when. */
function describe({ view, expires }: PageKey, zone: string): string {
  const ids = view?.device_ids ?? [];
  const who = namesText(ids);
  const blur = view?.precision_meters == null ? "" : `, within ${view.precision_meters} m`;
  return `${who}${blur}; ${expires === null ? "until it is revoked" : `until ${dayMinuteText(expires, zone)}`}`;
}
