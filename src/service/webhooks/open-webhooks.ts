import type { WebhookSecrets } from "../../auth/webhook-secrets.ts";
import type { WebhookStore } from "../../hot/webhook-store.ts";
import type { Timers } from "../../lib/schedule/timers.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { TargetRules } from "../../model/webhooks/target-addresses.ts";
import type { Post, ResolveName } from "../../runtime/post/post.ts";
import type { StandingAppend } from "../ingest/standing-append.ts";
import type { EventStore } from "../watching/event-store.ts";
import { type DeliverySharing, WebhookDelivery } from "./delivery.ts";
import { DeliveryStore } from "./delivery-store.ts";
import { createEditWebhooks, type EditWebhooks } from "./edit-webhooks.ts";
import { ResendWebhooks } from "./resend.ts";
import { createSend } from "./sender.ts";

/** What a server has for its webhooks. */
export interface WebhookParts {
  readonly secrets: WebhookSecrets;
  readonly targets: TargetRules;
  readonly post: Post;
  readonly resolve: ResolveName;
  /** The version of the program. */
  readonly version: string;
}

export interface WebhookStores {
  readonly append: StandingAppend;
  readonly hot: { readonly webhooks: WebhookStore; readonly visibleSequence: number };
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Set on a node of a cluster. */
  readonly sharing?: DeliverySharing;
  /** Called with a sentence for the operator. */
  onNote(note: string): void;
}

export interface OpenWebhooks {
  readonly edit: EditWebhooks;
  readonly resend: ResendWebhooks;
  /** Sends once it is started. */
  readonly delivery: WebhookDelivery;
}

export function openWebhooks(parts: WebhookParts, stores: WebhookStores): OpenWebhooks {
  const { hot, eventStore: events, onNote } = stores;
  const store = new DeliveryStore(events.database);
  const edit = createEditWebhooks({ ...parts, ...stores });
  const send = createSend({ ...parts, ...stores });
  const following = { events, store, webhooks: hot.webhooks, send };
  const isRevoked = (id: string) => parts.secrets.find(id)?.isRevoked === true;
  const delivery = new WebhookDelivery({
    ...{ ...stores, ...following, isRevoked, suspend: edit.suspend, onNote },
  });
  return { edit, resend: new ResendWebhooks({ ...following, delivery }), delivery };
}
