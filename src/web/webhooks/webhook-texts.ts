import { counted, countText } from "../geo/units.ts";
import { agoText, dayMinuteText } from "../time/format.ts";
import type { Delivery, Webhook } from "./webhook.ts";

/* Webhooks and what was sent to them, in words. */

/** The kinds of events, in the order in which they happen. */
export const KINDS: readonly { readonly kind: string; readonly label: string }[] = [
  { kind: "enter", label: "Entered" },
  { kind: "dwell", label: "Stayed" },
  { kind: "exit", label: "Left" },
  { kind: "alert_start", label: "Alert began" },
  { kind: "alert_end", label: "Alert ended" },
];

/** Its name, or else its host: the rest of a URL may be a secret. */
export function webhookName({ name, url }: Pick<Webhook, "name" | "url">): string {
  return name ?? new URL(url).host;
}

/** `Active`; `Fails, 3 times in a row: tried again in 5 min`; `Paused since Sat 21 Nov 2026, 17:05 EST: gone`. */
export function stateText(webhook: Webhook, zone: string, nowMs: number): string {
  const { state, state_since, reason, failing } = webhook;
  if (state === "active") {
    if (failing === undefined) return "Active";
    const { failures, next_attempt } = failing;
    return `Fails, ${counted(failures, "time")} in a row: tried again ${agoText(Math.max(next_attempt, nowMs), nowMs)}`;
  }
  const since = dayMinuteText(state_since, zone);
  const why = reason === undefined ? "" : `: ${reason}`;
  return `${state === "paused" ? "Paused" : "Disabled"} since ${since}${why}`;
}

/** How many geofences and alerts are named; beyond it, only their number is said. */
const NAMED_MAX = 5;

/** What it sends, a sentence each. */
export function webhookRules(webhook: Webhook, labelOf: (watchId: string) => string): readonly string[] {
  const { types, watches, late, headers } = webhook;
  const kinds = KINDS.filter(({ kind }) => types?.includes(kind) ?? true).map(({ label }) => label);
  const texts = [types === undefined ? "Sends all events." : `Sends: ${kinds.join(", ")}.`];
  if (watches !== undefined && watches.length <= NAMED_MAX)
    texts.push(`Only of ${watches.map(labelOf).join(", ")}.`);
  else if (watches !== undefined) texts.push(`Only of ${countText(watches.length)} geofences or alerts.`);
  for (const only of filterTexts(webhook)) texts.push(`Only of ${only}.`);
  if (late) texts.push("Sends what became known a day late, too.");
  if (headers.length > 0) texts.push(`With the headers ${headers.join(", ")}.`);
  return texts;
}

/** `2 devices`, `1 user`. */
export function filterTexts({ devices, users }: Pick<Webhook, "devices" | "users">): readonly string[] {
  const texts: string[] = [];
  if (devices !== undefined) texts.push(counted(devices.length, "device"));
  if (users !== undefined) texts.push(counted(users.length, "user"));
  return texts;
}

const OUTCOMES: Readonly<Record<Delivery["outcome"], string>> = {
  delivered: "Delivered",
  failed: "Failed",
  rejected: "Refused",
  parked: "Given up",
};

/** `Delivered: 204`, `Test failed: no answer`. */
export function deliveryText({ event_id, outcome, status }: Delivery): string {
  const words = OUTCOMES[outcome];
  const result = `${words}: ${status ?? "no answer"}`;
  return event_id === null ? `Test ${result.charAt(0).toLowerCase()}${result.slice(1)}` : result;
}
