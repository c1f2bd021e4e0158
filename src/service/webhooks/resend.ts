import { presentEvent } from "../../geofences/present-event.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { Semaphore } from "../../lib/schedule/semaphore.ts";
import { type ServiceError, unavailable } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { Delivery } from "../../model/webhooks/delivery.ts";
import type { Webhook } from "../../model/webhooks/webhook.ts";
import type { EventStore } from "../watching/event-store.ts";
import { deliveryOf, subjectOf, type WebhookDelivery } from "./delivery.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import { bodyOf } from "./message.ts";
import type { Send, Sent } from "./sender.ts";

/** Requests that clients wait for, in all and of one app. */
const SENDING_MAX = 16;
const SENDING_OF_APP_MAX = 4;

export interface ResendDependencies {
  readonly webhooks: { find(appId: AppId, id: string): Webhook | null };
  readonly events: Pick<EventStore, "find">;
  readonly store: Pick<DeliveryStore, "list" | "count">;
  readonly delivery: Pick<WebhookDelivery, "note" | "rewind" | "save" | "findFailing">;
  readonly send: Send;
}

/** Who asks for a request, and when. */
export interface ResendRequest {
  readonly appId: AppId;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

export interface DeliveriesPage {
  readonly deliveries: readonly Delivery[];
  readonly total: number;
}

/** What clients ask about deliveries, and what they have sent again. */
export class ResendWebhooks {
  readonly #dependencies: ResendDependencies;
  readonly #places = new Semaphore<AppId>(SENDING_MAX, {
    runningOfOwnerMax: SENDING_OF_APP_MAX,
    waitingMax: 0,
  });

  constructor(dependencies: ResendDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether the receiver fails, and when it is tried again. */
  findFailing(id: string): ReturnType<WebhookDelivery["findFailing"]> {
    return this.#dependencies.delivery.findFailing(id);
  }

  /** The last requests, newest first. */
  async list(
    appId: AppId,
    id: string,
    { offset, limit }: { readonly offset: number; readonly limit: number },
  ): Promise<Result<DeliveriesPage, ServiceError>> {
    if (this.find(appId, id) === null) return NOT_FOUND;
    const { store, delivery } = this.#dependencies;
    await delivery.save();
    return ok({ deliveries: store.list(id, offset, limit), total: store.count(id) });
  }

  /** Sends a message that is about no event. */
  test(asked: ResendRequest, id: string): Promise<Result<Delivery, ServiceError>> {
    const { appId, nowMs } = asked;
    return this.#sendNow(asked, id, async (webhook) => {
      const body = bodyOf("test", nowMs, { webhook_id: id });
      const request = await this.#send(webhook, { id: `test_${id}_${nowMs}`, body }, asked);
      return { ...deliveryOf(webhook, request, outcomeOf(request)), appId };
    });
  }

  /** Sends one event again, whether the webhook wants it or not. */
  async redeliver(
    asked: ResendRequest,
    id: string,
    eventId: string,
  ): Promise<Result<Delivery, ServiceError>> {
    const stored = this.#dependencies.events.find(asked.appId, eventId);
    if (stored === null) return fail({ kind: "event_not_found" });
    return this.#sendNow(asked, id, async (webhook) => {
      const body = bodyOf(stored.event.kind, stored.event.timestampMs, presentEvent(stored));
      const message = { id: `${eventId}_${stored.revision}`, body };
      const request = await this.#send(webhook, message, asked);
      return { ...deliveryOf(webhook, request, outcomeOf(request)), ...subjectOf(stored) };
    });
  }

  /** Sends everything again that was made at this time or later, in its order. */
  async redeliverSince(
    { appId }: ResendRequest,
    id: string,
    sinceMs: number,
  ): Promise<Result<void, ServiceError>> {
    const webhook = this.find(appId, id);
    if (webhook === null) return NOT_FOUND;
    const isWritten = await this.#dependencies.delivery.rewind(webhook, sinceMs);
    return isWritten ? ok(undefined) : fail(unavailable("the log can't be written now", 5));
  }

  find(appId: AppId, id: string): Webhook | null {
    return this.#dependencies.webhooks.find(appId, id);
  }

  #send(webhook: Webhook, message: Parameters<Send>[1], { signal }: ResendRequest): Promise<Sent> {
    return this.#dependencies.send(webhook, message, signal);
  }

  async #sendNow(
    { appId }: ResendRequest,
    id: string,
    send: (webhook: Webhook) => Promise<Delivery>,
  ): Promise<Result<Delivery, ServiceError>> {
    const webhook = this.find(appId, id);
    if (webhook === null) return NOT_FOUND;
    if ((await this.#places.enter(appId)) === "refused")
      return fail(unavailable("too many requests to webhooks are under way", 5));
    try {
      const delivery = await send(webhook);
      this.#dependencies.delivery.note(delivery);
      return ok(delivery);
    } finally {
      this.#places.leave(appId);
    }
  }
}

const NOT_FOUND = fail({ kind: "webhook_not_found" } as const);

function outcomeOf({ verdict }: Sent): Delivery["outcome"] {
  return verdict === "gone" ? "failed" : verdict;
}
