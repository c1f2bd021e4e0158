import { assert } from "../lib/assert.ts";
import { type ErasedScope, isUnbounded } from "../model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import type { Webhook } from "../model/webhooks/webhook.ts";
import type { WebhookEntry } from "../model/webhooks/webhook-entry.ts";

/** The webhooks of all apps. They change only by entries of the log, so replay and live traffic build the same. */
export class WebhookStore {
  readonly #byApp = new Map<AppId, Map<string, Webhook>>();
  /** The last entry that is in here, or in the archive's file from which these were restored. */
  #sequence = 0;
  #count = 0;
  #onChanged = (_former: Webhook | null, _webhook: Webhook | null) => {};

  get sequence(): number {
    return this.#sequence;
  }

  /** Webhooks of all apps. */
  get count(): number {
    return this.#count;
  }

  find(appId: AppId, id: string): Webhook | null {
    return this.#byApp.get(appId)?.get(id) ?? null;
  }

  /** In the order in which they were made. */
  ofApp(appId: AppId): readonly Webhook[] {
    return [...(this.#byApp.get(appId)?.values() ?? [])];
  }

  *all(): Iterable<Webhook> {
    for (const webhooks of this.#byApp.values()) yield* webhooks.values();
  }

  /** Calls `onChanged` after each change of one of them; null before it is made, and once it is deleted. */
  watch(onChanged: (former: Webhook | null, webhook: Webhook | null) => void): void {
    this.#onChanged = onChanged;
  }

  /** Puts an entry of the archive's file back, before any entry of the log. */
  restore(entry: WebhookEntry): void {
    assert(this.#sequence === 0, "webhooks are restored before the log is read");
    this.#set(entry);
  }

  /** Ends the restoring: entries up to this one are in here. */
  endRestore(sequence: number): void {
    this.#sequence = sequence;
  }

  /** Applies an entry of the log, unless the archive's file had it. */
  apply(entry: WebhookEntry, sequence: number): void {
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    this.#set(entry);
  }

  /** Takes an erased subject out of the filters for an entry of the log, unless the file was written after it. */
  erase(appId: AppId, { deviceIds, userId, range }: ErasedScope, sequence: number): void {
    if (sequence <= this.#sequence || !isUnbounded(range)) return;
    this.#sequence = sequence;
    for (const webhook of this.ofApp(appId)) {
      const erased = withoutIds(webhook, deviceIds, userId);
      if (erased !== webhook) this.#set({ kind: "webhook", appId, id: webhook.id, webhook: erased });
    }
  }

  /** All of them as entries for a file, as they are at the call. */
  entries(): Iterable<WebhookEntry> {
    return Array.from(this.all(), (webhook) => {
      const { appId, id } = webhook;
      return { kind: "webhook", appId, id, webhook };
    });
  }

  #set({ appId, id, webhook }: WebhookEntry): void {
    const ofApp = this.#byApp.get(appId) ?? new Map<string, Webhook>();
    this.#byApp.set(appId, ofApp);
    const former = ofApp.get(id) ?? null;
    this.#count -= ofApp.size;
    if (webhook === null) ofApp.delete(id);
    else ofApp.set(id, webhook);
    this.#count += ofApp.size;
    if (former !== null || webhook !== null) this.#onChanged(former, webhook);
  }
}

/** Returns `webhook` itself if it names none of them. A list that becomes empty stays: it lets nothing through. */
function withoutIds(webhook: Webhook, deviceIds: readonly DeviceId[], userId: UserId | null): Webhook {
  const { devices, users } = webhook;
  const namesDevice = userId === null && devices?.some((id) => deviceIds.includes(id)) === true;
  const namesUser = userId !== null && users?.includes(userId) === true;
  if (!namesDevice && !namesUser) return webhook;
  return {
    ...webhook,
    ...(namesDevice ? { devices: devices!.filter((id) => !deviceIds.includes(id)) } : {}),
    ...(namesUser ? { users: users!.filter((id) => id !== userId) } : {}),
  };
}
