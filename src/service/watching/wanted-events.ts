import type { WebhookDraft } from "../../model/webhooks/webhook.ts";
import type { StoredEvent } from "./stored-event.ts";

/** The events that a subscriber wants. */
export type WantedEvents = Pick<WebhookDraft, "types" | "watches" | "devices" | "users" | "sendsLate">;

/** Whether the subscriber wants to hear of this revision. */
export function isWanted(
  { types, watches, devices, users, sendsLate }: WantedEvents,
  { event, isLate }: StoredEvent,
): boolean {
  if (isLate && !sendsLate) return false;
  if (types !== null && !types.includes(event.kind)) return false;
  if (watches !== null && !watches.includes(event.watchId)) return false;
  if (devices !== null && !devices.includes(event.deviceId)) return false;
  return users === null || users.includes(event.userId);
}
