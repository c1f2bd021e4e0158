import type { AppId, DeviceId, UserId } from "../ids.ts";

/* What is kept of deliveries to webhooks. */

/** Rejected events are tried a few times; the last time they are parked. */
export const OUTCOMES = ["delivered", "failed", "rejected", "parked"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** A request that was sent, or could not be. */
export interface Delivery {
  readonly webhookId: string;
  readonly appId: AppId;
  /** Null of a test. */
  readonly eventId: string | null;
  readonly revision: number;
  readonly deviceId: DeviceId | null;
  readonly userId: UserId | null;
  readonly atMs: number;
  readonly outcome: Outcome;
  /** Null if no answer came. */
  readonly status: number | null;
  readonly latencyMs: number;
  /** The beginning of the answer, or why there is none. */
  readonly answer: string;
}

/** A webhook whose receiver fails: its events wait for one that gets through. */
export interface Failing {
  readonly failures: number;
  readonly nextMs: number;
}

/** Where a webhook is among the events of its app. */
export interface SavedCursor {
  readonly webhookId: string;
  readonly seq: number;
  readonly failing: Failing | null;
}
