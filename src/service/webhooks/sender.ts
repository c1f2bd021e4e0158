import { secretsAt, type WebhookSecrets } from "../../auth/webhook-secrets.ts";
import type { Clock } from "../../model/time/clock.ts";
import type { Delivery } from "../../model/webhooks/delivery.ts";
import { signedHeaders } from "../../model/webhooks/signing.ts";
import { type TargetRules, targetFault } from "../../model/webhooks/target-addresses.ts";
import type { Webhook } from "../../model/webhooks/webhook.ts";
import type { Post } from "../../runtime/post/post.ts";
import { parseRetryAfterMs } from "./retry-schedule.ts";

export interface SenderDependencies {
  readonly post: Post;
  readonly secrets: Pick<WebhookSecrets, "find" | "findNew" | "state">;
  readonly targets: TargetRules;
  readonly clock: Clock;
  readonly version: string;
}

/** A node of a cluster, and a process beside this one, knows another's change of secrets and headers by then. */
const KNOWN_MS = 10_000;

/** A message to one webhook. */
export interface Message {
  /** Unique for what it says: the same one when it is sent again. */
  readonly id: string;
  readonly body: string;
}

/** What became of a request. */
export interface Sent extends Pick<Delivery, "atMs" | "status" | "latencyMs" | "answer"> {
  /** Whether the receiver took it, does not work, does not want it, or wants no more. */
  readonly verdict: "delivered" | "failed" | "rejected" | "gone";
  readonly retryAfterMs: number;
}

export type Send = (webhook: Webhook, message: Message, signal: AbortSignal) => Promise<Sent>;

/** Creates the function that signs a message, sends it once, and judges the answer. */
export function createSend({ post, secrets, targets, clock, version }: SenderDependencies): Send {
  return async function send(webhook, { id, body }, signal) {
    const atMs = clock.nowMs();
    const startedMs = performance.now();
    const isFresh = atMs - webhook.changedMs < KNOWN_MS;
    const secret = isFresh ? await secrets.findNew(webhook.id) : secrets.find(webhook.id);
    if (secret === null) return { ...unsent("its secret is lost: rotate it"), atMs, latencyMs: 0 };
    if (secret.isRevoked) {
      const why = { ...unsent("the key that made it was revoked"), verdict: "gone" } as const;
      return { ...why, atMs, latencyMs: 0 };
    }
    const url = new URL(webhook.url);
    const timestampSeconds = Math.floor(atMs / 1000);
    const outcome = await post({
      url,
      headers: {
        ...secret.headers,
        "content-type": "application/json",
        "user-agent": `wherehouse/${version}`,
        ...signedHeaders({ id, timestampSeconds, body }, secretsAt(secret, atMs)),
      },
      body,
      refusalOf: (address) => targetFault(address, url.protocol === "https:", targets),
      signal,
    });
    const times = { atMs, latencyMs: performance.now() - startedMs };
    if (outcome.kind === "failed") return { ...unsent(outcome.reason), ...times };
    if (outcome.kind === "refused")
      return { ...unsent(`its address is refused: it is ${outcome.reason}`), ...times };
    const { status, body: answer } = outcome;
    const retryAfterMs = parseRetryAfterMs(outcome.retryAfter, clock.nowMs());
    return { verdict: verdictOf(status), retryAfterMs, status, answer, ...times };
  };
}

function unsent(answer: string) {
  return { verdict: "failed", retryAfterMs: 0, status: null, answer } as const;
}

function verdictOf(status: number): Sent["verdict"] {
  if (status >= 200 && status < 300) return "delivered";
  if (status === 410) return "gone";
  return status >= 400 && status < 500 && status !== 429 ? "rejected" : "failed";
}
