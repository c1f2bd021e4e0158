import type { Api } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { ChosenDevices, type ChosenDevicesParts } from "../items/chosen-devices.ts";
import { DraftEditor } from "../items/draft-editor.ts";
import { PagedList } from "../items/paged-list.ts";
import { Copying } from "../keys/copying.ts";
import { ChosenWatches } from "./chosen-watches.ts";
import {
  type Delivery,
  deliveryKey,
  WEBHOOKS_PATH,
  type Webhook,
  type WebhookAnswer,
  type WebhookVerb,
  webhookPath,
} from "./webhook.ts";
import { bodyOf, draftOf, faultOf, NEW_WEBHOOK, type WebhookDraft } from "./webhook-draft.ts";

export interface WebhooksParts {
  readonly api: Pick<Api, "get" | "send" | "retries">;
  readonly zones: { readonly zone: string };
  readonly table: ChosenDevicesParts["table"];
  readonly changed: () => void;
}

/** The webhooks of the app: their list, one of them with what was sent to it, and the draft of one. */
export class Webhooks {
  readonly #parts: WebhooksParts;
  readonly list: PagedList<Webhook>;
  readonly editor: DraftEditor<WebhookDraft, WebhookAnswer>;
  readonly devices: ChosenDevices;
  readonly watches: ChosenWatches;
  readonly copying: Copying;
  #chosen: Webhook | null = null;
  /** The requests that were sent to the chosen one, newest first; null if none is chosen. */
  deliveries: PagedList<Delivery> | null = null;
  #secret: string | null = null;
  #running: WebhookVerb | null = null;
  /** What the last action has done, or why it has failed. */
  #note: string | null = null;
  #fault: string | null = null;
  /** Since when events are sent again, as the field has it. */
  since = "";

  constructor(parts: WebhooksParts) {
    const { api, changed } = parts;
    this.#parts = parts;
    this.copying = new Copying(changed);
    this.list = new PagedList({ path: WEBHOOKS_PATH, member: "webhooks", idOf: ({ id }) => id }, parts);
    this.editor = new DraftEditor<WebhookDraft, WebhookAnswer>({
      ...{ api, path: WEBHOOKS_PATH, bodyOf, faultOf, changed },
      onSaved: (answer) => this.#saved(answer),
      onDeleted: (id) => this.#deleted(id),
      onClosed: () => this.watches.close(),
    });
    this.devices = new ChosenDevices(this.editor, parts);
    this.watches = new ChosenWatches(this.editor, parts);
  }

  /** Null while the list is shown. */
  get chosen(): Webhook | null {
    return this.#chosen;
  }

  /** The secret that signs the requests of the chosen one, if it was just made: the server shows it once. */
  get secret(): string | null {
    return this.#secret;
  }

  /** What the server is doing with the chosen one. */
  get running(): WebhookVerb | null {
    return this.#running;
  }

  get note(): string | null {
    return this.#note;
  }

  get fault(): string | null {
    return this.#fault;
  }

  get zone(): string {
    return this.#parts.zones.zone;
  }

  open(): void {
    void this.list.load();
  }

  begin(): void {
    this.#forget();
    this.editor.open(NEW_WEBHOOK);
  }

  edit(): void {
    if (this.#chosen !== null) this.editor.open(draftOf(this.#chosen));
  }

  choose(webhook: Webhook): void {
    this.#forget();
    this.#chosen = webhook;
    this.deliveries = new PagedList(
      { path: webhookPath(webhook.id, "deliveries"), member: "deliveries", idOf: deliveryKey },
      this.#parts,
    );
    void this.deliveries.load();
    void this.watches.learn(webhook.watches ?? []);
  }

  /** Loads the chosen one and what was sent to it anew. */
  refresh(): Promise<void> {
    return this.#act(null, async ({ id }) => {
      void this.deliveries?.load();
      return this.#parts.api.get<WebhookAnswer>(webhookPath(id));
    });
  }

  /** Resumes or pauses it. */
  setActive(isActive: boolean): Promise<void> {
    const verb = isActive ? "resume" : "pause";
    return this.#act(verb, ({ id }) => this.#post(id, verb));
  }

  test(): Promise<void> {
    return this.#act("test", async ({ id }) => {
      await this.#post(id, "test");
      void this.deliveries?.load();
      return {};
    });
  }

  /** Makes another secret. */
  rotate(): Promise<void> {
    return this.#act("rotate", ({ id }) => this.#post(id, "rotate"));
  }

  redeliver(eventId: string): Promise<void> {
    return this.#redeliver({ event_id: eventId }, null);
  }

  redeliverSince(sinceMs: number): Promise<void> {
    return this.#redeliver({ since: sinceMs }, "What was made since then is sent again.");
  }

  /** Goes back to the webhook from its draft, and to the list from the webhook. Returns false at the list. */
  leave(): boolean {
    if (this.editor.close()) return true;
    if (this.#chosen === null) return false;
    this.#forget();
    this.#parts.changed();
    return true;
  }

  close(): void {
    this.editor.close();
    this.#forget();
    this.list.close();
  }

  #redeliver(events: unknown, note: string | null): Promise<void> {
    return this.#act("redeliver", async ({ id }) => {
      await this.#post(id, "redeliver", events);
      void this.deliveries?.load();
      return { note };
    });
  }

  /** The answers to a test and to redelivery have no webhook. */
  #post(id: string, verb: WebhookVerb, body?: unknown): Promise<Partial<WebhookAnswer>> {
    return this.#parts.api.send("POST", webhookPath(id, verb), body);
  }

  /** Asks the server to act on the chosen webhook. If the user leaves that one, its outcome is not shown. */
  async #act(
    verb: WebhookVerb | null,
    act: (webhook: Webhook) => Promise<Partial<WebhookAnswer> & { readonly note?: string | null }>,
  ): Promise<void> {
    const { chosen, deliveries } = this;
    if (chosen === null || this.#running !== null) return;
    const { changed } = this.#parts;
    const isShown = () => this.deliveries === deliveries;
    this.#running = verb;
    this.#fault = null;
    this.#note = null;
    changed();
    try {
      const { webhook, secret, note = null } = await act(chosen);
      if (webhook !== undefined) this.list.put(webhook);
      if (!isShown()) return;
      if (webhook !== undefined) this.#chosen = webhook;
      if (secret !== undefined) this.#secret = secret;
      this.#note = note;
    } catch (error) {
      if (!isShown()) return;
      this.#fault = sentenceOf(error);
    }
    this.#running = null;
    changed();
  }

  /** If another draft was begun meanwhile, the secret is not shown: the user can make another one. */
  #saved({ webhook, secret }: WebhookAnswer): void {
    this.list.put(webhook);
    if (this.editor.draft !== null) return;
    this.choose(webhook);
    this.#secret = secret ?? null;
  }

  #deleted(id: string): void {
    this.list.remove(id);
    if (this.#chosen?.id === id) this.#forget();
  }

  #forget(): void {
    this.watches.forget();
    this.deliveries?.close();
    this.deliveries = null;
    this.#chosen = null;
    this.#secret = null;
    this.#running = null;
    this.#note = null;
    this.#fault = null;
    this.since = "";
  }
}
