import { Buffer } from "node:buffer";
import { createHmac, randomBytes } from "node:crypto";

/* Secrets and signatures of Standard Webhooks 1.0. */

const SECRET_PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** A secret as receivers get it. */
export function createWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

export function isWebhookSecret(text: string): boolean {
  return /^whsec_[A-Za-z0-9+/]{43}=$/.test(text);
}

export interface SignedMessage {
  readonly id: string;
  readonly timestampSeconds: number;
  readonly body: string;
}

/** The headers of a message: one signature for each secret, so that receivers may know either. */
export function signedHeaders(
  { id, timestampSeconds, body }: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const content = `${id}.${timestampSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(content).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": signatures.join(" "),
  };
}
