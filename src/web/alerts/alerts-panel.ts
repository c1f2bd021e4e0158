import { html, nothing, type TemplateResult } from "lit-html";
import { previewSection } from "../fences/preview-section.ts";
import { itemList, searchField } from "../items/item-list.ts";
import { icon } from "../shell/icons.ts";
import type { Alert } from "./alert.ts";
import { alertForm } from "./alert-form.ts";
import { alertName, alertRules, limitText } from "./alert-texts.ts";
import type { Alerts } from "./alerts.ts";

/** What the card of the alerts is about; null while it shows the list. */
export function alertsTitle({ editor: { draft }, chosen, units }: Alerts): string | null {
  if (draft !== null) return draft.id === null ? "New alert" : "Edit alert";
  return chosen === null ? null : alertName(chosen, units);
}

/** Their list, or the rules of one, or the form that changes one. */
export function alertsBody(alerts: Alerts): TemplateResult {
  const { editor, chosen, list, mayManage } = alerts;
  if (editor.draft !== null) return alertForm(alerts, editor.draft);
  if (chosen !== null) return details(alerts, chosen);
  const begin = () => alerts.begin();
  return html`${
    mayManage
      ? html`<div class="item-tools"><button class="tonal" @click=${begin}>New alert</button></div>`
      : nothing
  }
    ${searchField(list, "Search alerts")}
    ${itemList({
      list,
      noun: "alert",
      none: mayManage
        ? "No alerts yet. They are about speed, battery or silence, wherever a device is."
        : "No alerts yet. A key with the permission manage makes them.",
      row: (alert) => row(alert, alerts),
    })}`;
}

function row(alert: Alert, alerts: Alerts): TemplateResult {
  const { units } = alerts;
  const texts = [limitText(alert, units), ...(alert.active === false ? ["not active"] : [])];
  return html`<button @click=${() => alerts.choose(alert)}>
    <span class="event-mark" data-kind=${alert.active === false ? "off" : "good"}></span>
    <span class="name">${alertName(alert, units)}</span>
    <span class="soft">${texts.join(" · ")}</span>
  </button>`;
}

function details(alerts: Alerts, alert: Alert): TemplateResult {
  return html`<ul class="item-rules">${alertRules(alert, alerts.units).map((text) => html`<li>${text}</li>`)}</ul>
    ${
      alerts.mayManage
        ? html`<div class="item-tools"><button class="tool tonal" @click=${() => alerts.edit()}>
            ${icon("edit")}<span>Edit</span></button></div>`
        : nothing
    }
    ${previewSection(alerts)}`;
}
