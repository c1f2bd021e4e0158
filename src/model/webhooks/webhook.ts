import type { AppId, DeviceId, UserId } from "../ids.ts";

/** A subscription of an app to its events, which are sent to a URL. */
export interface Webhook extends WebhookDraft {
  readonly id: string;
  readonly appId: AppId;
  /** The key that made it. */
  readonly keyId: string;
  readonly createdMs: number;
  readonly changedMs: number;
  readonly state: WebhookState;
  /** Since when it is in this state. */
  readonly stateMs: number;
  /** Why it is not active, as a phrase; null if a client asked for that, or if it is active. */
  readonly reason: string | null;
}

/** What a client chooses. Its secret and its headers are in a file of their own. */
export interface WebhookDraft {
  readonly name: string | null;
  /** A secret: many services put a token into it. */
  readonly url: string;
  /** Kinds of events; null for all, as in the next ones. */
  readonly types: readonly string[] | null;
  /** Geofences and alerts. */
  readonly watches: readonly string[] | null;
  readonly devices: readonly DeviceId[] | null;
  readonly users: readonly UserId[] | null;
  /** Whether events that were made long after their time are sent, too. */
  readonly sendsLate: boolean;
}

/** A webhook that is paused keeps its place among the events for some time; one that is disabled does not. */
export const WEBHOOK_STATES = ["active", "paused", "disabled"] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

/** Webhooks of one app, and of all of them. */
export const WEBHOOKS_OF_APP_MAX = 1000;
export const WEBHOOKS_MAX = 5000;

export const URL_CHARACTERS_MAX = 2048;

/** The scheme and the host of a URL, which may be shown to operators; its path may be a secret. */
export function originOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}
