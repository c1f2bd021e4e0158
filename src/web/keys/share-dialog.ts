import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { choiceChips } from "../items/choice-chips.ts";
import { dialog } from "../shell/dialog.ts";
import { faultNote } from "../shell/fault-note.ts";
import { dayMinuteText } from "../time/format.ts";
import { unreachable } from "./connect-panel.ts";
import { copyField } from "./copying.ts";
import { keyList } from "./key-list.ts";
import type { PageKey } from "./page-keys.ts";
import { qrCode } from "./qr-code.ts";
import type { Share } from "./share.ts";
import { FROM, PRECISIONS, UNTIL } from "./share-terms.ts";

/** The dialog that creates and revokes share links. */
export function shareDialog(share: Share): TemplateResult | typeof nothing {
  if (!share.isOpen) return nothing;
  const body = html`
    <p class="soft">Anyone with the link sees these devices on a map, and nothing else.</p>
    <form class="share-form" @submit=${(event: Event) => submit(event, share)}>
      ${choiceChips(share, "Devices")} ${terms(share)}
      ${share.fault === null ? nothing : html`<p class="fault" role="alert">${share.fault}</p>`}
      <button class="primary" ?disabled=${share.isMaking}>Create link</button>
    </form>
    ${share.made === null ? nothing : madeLink(share, share.made.url)}
    ${keyList({
      title: "Active links",
      none: "None.",
      kind: "share",
      keys: share.keys,
      zone: share.zone,
      describe: (key) => describe(key, share),
    })}`;
  return dialog({ name: "share", title: "Share", body, closed: () => share.close() });
}

async function submit(event: Event, share: Share): Promise<void> {
  event.preventDefault();
  const form = event.currentTarget as HTMLElement;
  await share.make();
  // The focus scrolls to the new link and selects it, once it is drawn.
  requestAnimationFrame(() => form.parentElement?.querySelector<HTMLElement>(".made input")?.focus());
}

function terms(share: Share): TemplateResult {
  const { until, ownUntil, from, ownFrom, precision } = share.terms;
  const chosenIndex = (event: Event) => (event.target as HTMLSelectElement).selectedIndex;
  const textOf = (event: Event) => (event.target as HTMLInputElement).value;
  const own = (
    label: string,
    value: string,
    set: (text: string) => void,
  ) => html`<label class="own-time">${label}
    <input type="datetime-local" required .value=${live(value)} @input=${(event: Event) => set(textOf(event))}>
    <span class="soft">${share.zone}</span></label>`;
  return html`<div class="share-terms">
    <label>Valid <select @change=${(event: Event) => share.set({ until: chosenIndex(event) })}>
      ${UNTIL.map(({ label }, index) => html`<option .selected=${live(index === until)}>${label}</option>`)}
    </select></label>
    ${UNTIL[until]!.hours === null ? own("Until", ownUntil, (text) => share.set({ ownUntil: text })) : nothing}
    <label>Positions from <select @change=${(event: Event) => share.set({ from: chosenIndex(event) })}>
      ${FROM.map(({ label }, index) => html`<option .selected=${live(index === from)}>${label}</option>`)}
    </select></label>
    ${FROM[from]!.kind === "own" ? own("From", ownFrom, (text) => share.set({ ownFrom: text })) : nothing}
    <label>Precision <select @change=${(event: Event) => share.set({ precision: chosenIndex(event) })}>
      ${PRECISIONS.map(({ label }, index) => html`<option .selected=${live(index === precision)}>${label}</option>`)}
    </select></label>
    <label>For whom <input maxlength="100" autocomplete="off" placeholder="only you see this"
      @input=${(event: Event) => {
        share.label = textOf(event);
      }}></label>
    ${pathText(share)}
  </div>`;
}

/** What visitors see of the path. */
function pathText(share: Share): TemplateResult | typeof nothing {
  const start = share.start();
  if (start === null) return nothing;
  const { fromMs, silentIds } = start;
  const silent =
    silentIds.length === 0
      ? ""
      : ` Devices that were silent for more than a day are shown once they report again: ${share.namesText(silentIds)}.`;
  return html`<p class="soft">Visitors can see the path since ${dayMinuteText(fromMs, share.zone)}. The map opens with its
    last 30 minutes.${silent}</p>`;
}

function madeLink(share: Share, url: string): TemplateResult {
  const { copying } = share;
  return html`<section class="made" aria-label="The new link">
    <p role="status">Send or copy the link now: it will not be shown again.</p>
    ${unreachable(share.hostname)}
    ${copyField("Link", url, copying)}
    ${share.maySend ? html`<button class="primary" @click=${() => share.sendMade()}>Send with an app …</button>` : nothing}
    ${share.sendFault === null ? nothing : faultNote(share.sendFault, null)}
    <figure>${qrCode(url, "The link as a QR code")}
      <figcaption class="soft">Or scan it with the camera of the phone that will open it.</figcaption></figure>
  </section>`;
}

/** What a link shows, and until when. */
function describe({ view, expires }: PageKey, share: Share): string {
  const { zone } = share;
  const names = share.namesText(view?.device_ids ?? []);
  const blur = view?.precision_meters == null ? "" : `, within ${view.precision_meters} m`;
  return `${names}${blur}; ${expires === null ? "until it is revoked" : `until ${dayMinuteText(expires, zone)}`}`;
}
