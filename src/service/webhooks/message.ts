import type { Webhook } from "../../model/webhooks/webhook.ts";
import type { StoredEvent } from "../watching/stored-event.ts";

/** The body of a request, of Standard Webhooks. Ids have at most 128 characters, so it is far from their 20 kB. */
export function bodyOf(type: string, timestampMs: number, data: object): string {
  return JSON.stringify({ type, timestamp: new Date(timestampMs).toISOString(), data });
}

/** Whether the webhook wants to hear of this revision. */
export function isWanted(
  { types, watches, devices, users, sendsLate }: Webhook,
  { event, isLate }: StoredEvent,
): boolean {
  if (isLate && !sendsLate) return false;
  if (types !== null && !types.includes(event.kind)) return false;
  if (watches !== null && !watches.includes(event.watchId)) return false;
  if (devices !== null && !devices.includes(event.deviceId)) return false;
  return users === null || users.includes(event.userId);
}
