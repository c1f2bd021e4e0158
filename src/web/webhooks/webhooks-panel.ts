import { html, nothing, type TemplateResult } from "lit-html";
import { itemList } from "../items/item-list.ts";
import { copyField } from "../keys/copying.ts";
import { faultNote } from "../shell/fault-note.ts";
import { icon } from "../shell/icons.ts";
import { deliverySection } from "./delivery-list.ts";
import type { Webhook } from "./webhook.ts";
import { webhookForm } from "./webhook-form.ts";
import { stateText, webhookName, webhookRules } from "./webhook-texts.ts";
import type { Webhooks } from "./webhooks.ts";

/** What the card of the webhooks is about; null while it shows the list. */
export function webhooksTitle({ editor: { draft }, chosen }: Webhooks): string | null {
  if (draft !== null) return draft.id === null ? "New webhook" : "Edit webhook";
  return chosen === null ? null : webhookName(chosen);
}

/** Their list, or one of them with what was sent to it, or the form that changes one. */
export function webhooksBody(webhooks: Webhooks): TemplateResult {
  const { editor, chosen } = webhooks;
  if (editor.draft !== null) return webhookForm(webhooks, editor.draft);
  if (chosen !== null) return details(webhooks, chosen);
  const begin = () => webhooks.begin();
  return html`<div class="item-tools"><button class="tonal" @click=${begin}>New webhook</button></div>
    ${itemList({
      list: webhooks.list,
      noun: "webhook",
      none: "No webhooks yet. They send events to an address on the web.",
      row: (webhook) => row(webhook, webhooks),
    })}`;
}

function row(webhook: Webhook, webhooks: Webhooks): TemplateResult {
  return html`<button @click=${() => webhooks.choose(webhook)}>
    ${stateMark(webhook)}
    <span class="name">${webhookName(webhook)}</span>
    <span class="soft">${stateText(webhook, webhooks.zone, Date.now())}</span>
  </button>`;
}

function stateMark({ state, failing }: Webhook): TemplateResult {
  const kind = state !== "active" ? "off" : failing === undefined ? "good" : "bad";
  return html`<span class="event-mark" data-kind=${kind}></span>`;
}

function details(webhooks: Webhooks, webhook: Webhook): TemplateResult {
  const { running, fault, note, zone } = webhooks;
  const isActive = webhook.state === "active";
  const isBusy = running !== null;
  return html`${webhooks.secret === null ? nothing : secretNote(webhooks, webhooks.secret)}
    <p class="webhook-url">${webhook.url}</p>
    <p role="status">${stateMark(webhook)} ${stateText(webhook, zone, Date.now())}</p>
    <ul class="item-rules">${webhookRules(webhook, (id) => webhooks.watches.labelOf(id)).map((text) => html`<li>${text}</li>`)}</ul>
    <div class="item-tools">
      <button class="tonal" ?disabled=${isBusy} @click=${() => void webhooks.test()}>
        ${running === "test" ? "Testing…" : "Test"}</button>
      <button ?disabled=${isBusy} @click=${() => void webhooks.setActive(!isActive)}>${isActive ? "Pause" : "Resume"}</button>
      <button class="tool" @click=${() => webhooks.edit()}>${icon("edit")}<span>Edit</span></button>
    </div>
    <details>
      <summary>Secret</summary>
      <p class="soft">It signs the requests, and is shown only when it is made. After another one is made, both sign for a
        day.</p>
      <button ?disabled=${isBusy} @click=${() => void webhooks.rotate()}>Make another secret</button>
    </details>
    ${fault === null ? nothing : faultNote(fault, null)}
    ${note === null ? nothing : html`<p role="status">${note}</p>`}
    ${deliverySection(webhooks)}`;
}

function secretNote({ copying }: Webhooks, secret: string): TemplateResult {
  return html`<section class="made" aria-label="The secret">
    <p role="status">Copy the secret now: it will not be shown again.</p>
    ${copyField("Secret", secret, copying)}
  </section>`;
}
