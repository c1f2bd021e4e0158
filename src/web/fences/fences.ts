import { html, nothing, type TemplateResult } from "lit-html";
import { Alerts, type AlertsParts } from "../alerts/alerts.ts";
import { alertsBody, alertsTitle } from "../alerts/alerts-panel.ts";
import type { Stay } from "../history/story.ts";
import type { Track } from "../history/track.ts";
import { Webhooks, type WebhooksParts } from "../webhooks/webhooks.ts";
import { webhooksBody, webhooksTitle } from "../webhooks/webhooks-panel.ts";
import { fencesBody, fencesTitle } from "./fences-panel.ts";
import { Fencing, type FencingParts } from "./fencing.ts";
import { RecentEvents, type RecentEventsParts } from "./recent-events.ts";
import { recentBody } from "./recent-panel.ts";

export type FencesParts = Omit<FencingParts, "onPicked"> & AlertsParts & RecentEventsParts & WebhooksParts;

type TabName = "fences" | "alerts" | "events" | "webhooks";

/** What the card is about. */
interface Tab {
  readonly label: string;
  /** Null while it shows its list. */
  title(): string | null;
  body(): TemplateResult;
  /** Called when the user chooses it. */
  open(): void;
  /** Goes back by a step. Returns false at the list. */
  leave(): boolean;
  /** Esc, which takes a change back first. */
  escape(): boolean;
  /** Whether the user has the permissions for it. */
  isAllowed(): boolean;
}

/** The card of the geofences, the alerts, their events and the webhooks. Its code is loaded when it is first opened. */
export class Fences {
  readonly #parts: FencesParts;
  readonly fencing: Fencing;
  readonly alerts: Alerts;
  readonly recent: RecentEvents;
  readonly webhooks: Webhooks;
  readonly #tabs: Readonly<Record<TabName, Tab>>;
  #name: TabName = "fences";

  constructor(parts: FencesParts) {
    this.#parts = parts;
    const fencing = new Fencing({ ...parts, onPicked: () => this.show("fences") });
    const alerts = new Alerts(parts);
    const recent = new RecentEvents(parts);
    const webhooks = new Webhooks(parts);
    this.fencing = fencing;
    this.alerts = alerts;
    this.recent = recent;
    this.webhooks = webhooks;
    this.#tabs = {
      fences: {
        label: "Geofences",
        title: () => fencesTitle(fencing),
        body: () => fencesBody(fencing),
        open: () => undefined, // The map shows them while any tab is open.
        leave: () => fencing.leave(),
        escape: () => fencing.escape(),
        isAllowed: () => true,
      },
      alerts: {
        label: "Alerts",
        title: () => alertsTitle(alerts),
        body: () => alertsBody(alerts),
        open: () => alerts.open(),
        leave: () => alerts.leave(),
        escape: () => alerts.escape(),
        isAllowed: () => true,
      },
      events: {
        label: "Events",
        title: () => null,
        body: () => recentBody(recent),
        open: () => recent.open(),
        leave: () => false,
        escape: () => false,
        isAllowed: () => true,
      },
      webhooks: {
        label: "Webhooks",
        title: () => webhooksTitle(webhooks),
        body: () => webhooksBody(webhooks),
        open: () => webhooks.open(),
        leave: () => webhooks.leave(),
        escape: () => webhooks.leave(),
        isAllowed: () => parts.mayManage(),
      },
    };
  }

  get isOpen(): boolean {
    return this.fencing.isOpen;
  }

  open(): void {
    this.fencing.open();
    this.#parts.sheet.lower();
    this.#tabs[this.#name].open();
  }

  show(name: TabName): void {
    if (name !== this.#name) {
      this.recent.close(); // It holds a connection.
      this.#name = name;
      this.#tabs[name].open();
    }
    this.#parts.changed();
  }

  /** Begins a geofence around a stop of a device's day. */
  beginAtStop(stay: Stay, track: Track): void {
    this.show("fences");
    this.fencing.beginAtStop(stay, track);
  }

  /** Esc. Returns whether there was anything. */
  escape(): boolean {
    if (!this.isOpen) return false;
    if (!this.#tabs[this.#name].escape()) this.close();
    return true;
  }

  /** Returns whether it was open. */
  close(): boolean {
    if (!this.isOpen) return false;
    this.alerts.close();
    this.recent.close();
    this.webhooks.close();
    this.fencing.close();
    return true;
  }

  panel(): TemplateResult | typeof nothing {
    if (!this.isOpen) return nothing;
    const { label, title, body, leave } = this.#tabs[this.#name];
    const named = title();
    return html`<section class="card fences" aria-labelledby="fences-title">
      <div class="card-head">
        ${
          named === null
            ? nothing
            : html`<button class="quiet" aria-label="Back" title="Back (Esc)" @click=${leave}>‹</button>`
        }
        <h2 id="fences-title">${named ?? label}</h2>
        <button class="quiet" aria-label="Close" @click=${() => this.close()}>✕</button>
      </div>
      ${named === null ? this.#switch() : nothing}
      <div class="items-body">${body()}</div>
    </section>`;
  }

  #switch(): TemplateResult | typeof nothing {
    const names = (Object.keys(this.#tabs) as TabName[]).filter((name) => this.#tabs[name].isAllowed());
    if (names.length === 1) return nothing;
    return html`<div class="tabs" role="group" aria-label="What the card shows">
      ${names.map(
        (name) => html`<button aria-pressed=${name === this.#name} @click=${() => this.show(name)}>
          ${this.#tabs[name].label}</button>`,
      )}
    </div>`;
  }
}
