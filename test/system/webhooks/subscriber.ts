import { type Place, type Runtime, runCommand } from "../../support/server-process.ts";
import { type Client, send } from "../support/client.ts";
import type { Receiver } from "./receiver.ts";

/* A client that makes alerts and webhooks, and reports of devices that trip the alert. */

/** Makes a key that may do all of it. */
export async function makeKey(runtime: Runtime, place: Place): Promise<string> {
  const permissions = ["read", "write", "manage"].flatMap((permission) => ["--permission", permission]);
  const args = ["keys", "create", "--app", "fleet", "--tier", "unlimited", ...permissions];
  const { code, out, error } = await runCommand(runtime, place, args);
  if (code !== 0) throw new Error(error);
  return out.trim();
}

export function makeAlert(client: Client): Promise<unknown> {
  return send(client, "POST", "/api/v1/alerts", { name: "Fast", speed_above: 10 });
}

/** Makes a webhook to the receiver; returns its id. */
export async function subscribe(client: Client, receiver: Receiver): Promise<string> {
  const answer = await send(client, "POST", "/api/v1/webhooks", { url: receiver.url });
  receiver.secret = answer.secret!;
  return (answer as unknown as { webhook: { id: string } }).webhook.id;
}

/** Reports of each device at this time: fast and slow in turns, so that each makes an event. */
export function reportsOf(devices: number, timestamp: number, isFast: boolean): object[] {
  return Array.from({ length: devices }, (_, index) => ({
    ...{ device_id: `d${index}`, user_id: "u", timestamp, latitude: 53, longitude: -2 },
    speed: isFast ? 20 : 1,
  }));
}

export interface ListedEvent {
  readonly id: string;
  readonly revision: number;
  readonly device_id: string;
  readonly timestamp: number;
}

/** All events of the app. */
export async function listEvents(client: Client): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  for (;;) {
    const path = `/api/v1/events?start=0&end=${Date.now() + 86_400_000}&limit=1000&offset=${events.length}`;
    const page = (await send(client, "GET", path)) as unknown as {
      readonly events: readonly ListedEvent[];
      readonly pagination: { readonly has_more: boolean };
    };
    events.push(...page.events);
    if (!page.pagination.has_more) return events;
  }
}

/** The last revisions of all events of the app, in the order in which they were stored. */
export async function listStored(client: Client): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  for (let after = 0; ; ) {
    const page = (await send(client, "GET", `/api/v1/events?after=${after}&limit=1000`)) as unknown as {
      readonly events: readonly ListedEvent[];
      readonly pagination: { readonly after: number };
    };
    if (page.events.length === 0) return events;
    events.push(...page.events);
    ({ after } = page.pagination);
  }
}
