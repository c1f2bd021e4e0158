import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { textIn } from "../items/form-fields.ts";
import { itemList } from "../items/item-list.ts";
import { instantText } from "../time/format.ts";
import { instantOf } from "../time/local-time.ts";
import type { Delivery } from "./webhook.ts";
import { deliveryText } from "./webhook-texts.ts";
import type { Webhooks } from "./webhooks.ts";

/** What was sent to the chosen webhook, and what sends it again. */
export function deliverySection(webhooks: Webhooks): TemplateResult | typeof nothing {
  const { deliveries } = webhooks;
  if (deliveries === null) return nothing;
  return html`<section class="item-preview" aria-labelledby="deliveries-title">
    <h3 id="deliveries-title">Deliveries</h3>
    <div class="item-tools"><button @click=${() => void webhooks.refresh()}>Refresh</button></div>
    ${itemList({
      list: deliveries,
      noun: "request",
      none: "Nothing was sent yet.",
      row: (delivery) => row(delivery, webhooks),
    })}
    ${sinceForm(webhooks)}
  </section>`;
}

function row(delivery: Delivery, webhooks: Webhooks): TemplateResult {
  const { event_id: eventId, outcome, timestamp, latency_ms, answer, revision } = delivery;
  const when = instantText(timestamp, webhooks.zone);
  return html`<div class="delivery">
    <span class="event-mark" data-kind=${outcome === "delivered" ? "good" : "bad"}></span>
    <span class="name">${deliveryText(delivery)}</span>
    <span class="soft">${when}, ${latency_ms} ms</span>
    <details>
      <summary>Answer</summary>
      ${eventId === null ? nothing : html`<p class="soft">Event ${eventId}, revision ${revision}</p>`}
      <pre>${answer === "" ? "It has no text." : answer}</pre>
    </details>
    ${
      eventId === null
        ? nothing
        : html`<button ?disabled=${webhooks.running !== null} aria-label="Send again: ${eventId}, ${when}"
            @click=${() => void webhooks.redeliver(eventId)}>Send again</button>`
    }
  </div>`;
}

/** Sends all events since a time again. */
function sinceForm(webhooks: Webhooks): TemplateResult {
  const submit = (event: Event) => {
    event.preventDefault();
    const sinceMs = instantOf(webhooks.since, webhooks.zone);
    if (sinceMs !== null) void webhooks.redeliverSince(sinceMs);
  };
  const type = (event: Event) => {
    webhooks.since = textIn(event);
  };
  return html`<details>
    <summary>Send events again</summary>
    <form class="item-form" @submit=${submit}>
      <label class="item-name">All that were made since
        <input type="datetime-local" required .value=${live(webhooks.since)} @input=${type}>
        <span class="soft">${webhooks.zone}</span></label>
      <button ?disabled=${webhooks.running !== null}>Send again</button>
    </form>
  </details>`;
}
