import { itemPath } from "../api/api.ts";

/* Webhooks as the server has them, and the requests that it has sent to them. Times are Unix ms. */

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly name?: string;
  /** Kinds of events; all if it is absent, as in the next ones. */
  readonly types?: readonly string[];
  /** Geofences and alerts. */
  readonly watches?: readonly string[];
  readonly devices?: readonly string[];
  readonly users?: readonly string[];
  readonly late: boolean;
  /** Their names. */
  readonly headers: readonly string[];
  readonly state: "active" | "paused" | "disabled";
  readonly state_since: number;
  /** Why the server has paused or disabled it. */
  readonly reason?: string;
  /** Absent unless its receiver fails. */
  readonly failing?: { readonly failures: number; readonly next_attempt: number };
}

/** An answer about one webhook. */
export interface WebhookAnswer {
  readonly webhook: Webhook;
  /** Only of a new webhook, or a new secret. */
  readonly secret?: string;
}

export interface Delivery {
  /** Null for a test. */
  readonly event_id: string | null;
  readonly revision: number;
  readonly timestamp: number;
  readonly outcome: "delivered" | "failed" | "rejected" | "parked";
  /** Null if no answer came. */
  readonly status: number | null;
  readonly latency_ms: number;
  /** The first kilobyte of the answer, or why there is none. */
  readonly answer: string;
}

export const WEBHOOKS_PATH = "/api/v1/webhooks";

export type WebhookVerb = "test" | "pause" | "resume" | "rotate" | "redeliver" | "deliveries";

export function webhookPath(id: string, verb?: WebhookVerb): string {
  const path = itemPath(WEBHOOKS_PATH, id);
  return verb === undefined ? path : `${path}/${verb}`;
}

/** Requests have no ids, but none is sent twice in a millisecond. */
export function deliveryKey({ event_id, revision, timestamp }: Delivery): string {
  return `${event_id} ${revision} ${timestamp}`;
}
