import { MS_PER_SECOND } from "../model/time/units.ts";
import type { EventRevision } from "./revisions.ts";
import type { EndReason, EventKind, WatchEvent } from "./watch.ts";

/* Events in the words of clients. */

/** Why a visit to a fence ended. */
export const FENCE_REASONS = ["moved", "silent", "schedule", "fence_changed", "fence_deleted"] as const;
/** Why an alert ended. */
export const ALERT_REASONS = ["ended", "silent", "schedule", "alert_changed", "alert_deleted"] as const;

export type PublicReason = (typeof FENCE_REASONS | typeof ALERT_REASONS)[number];

/** What happened, and to whom. Members that do not apply are absent. */
export interface PresentedHappening {
  readonly kind: EventKind;
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly device_id: string;
  readonly user_id: string;
  readonly visit_id: string;
  readonly entered_at?: number;
  readonly duration_seconds?: number;
  readonly positions?: number;
  readonly reason?: PublicReason;
}

/** A revision of an event that was made. */
export interface PresentedEvent extends PresentedHappening {
  readonly id: string;
  readonly revision: number;
  readonly fence_id?: string;
  readonly alert_id?: string;
  readonly version: number;
  readonly late?: true;
  readonly correction?: true;
  readonly withdrawn?: true;
}

export function presentEvent({
  event,
  revision,
  isWithdrawn,
  isLate,
}: EventRevision & { readonly isLate: boolean }): PresentedEvent {
  const { id, watchId, version } = event;
  return {
    ...{ id, revision },
    ...presentHappening(event),
    ...(isOfAlert(event) ? { alert_id: watchId } : { fence_id: watchId }),
    version,
    ...(isLate ? { late: true } : {}),
    ...(revision > 1 ? { correction: true } : {}),
    ...(isWithdrawn ? { withdrawn: true } : {}),
  };
}

export function presentHappening(event: WatchEvent): PresentedHappening {
  const { kind, timestampMs, deviceId, userId, visitId, ending } = event;
  const common = { kind, timestamp: timestampMs, device_id: deviceId, user_id: userId, visit_id: visitId };
  if (ending === null) return common;
  const { reason, enteredMs, positions } = ending;
  const durationMs = timestampMs - (enteredMs ?? 0);
  return {
    ...common,
    ...(enteredMs === null ? {} : { entered_at: enteredMs, duration_seconds: durationMs / MS_PER_SECOND }),
    positions,
    reason: publicReason(reason, isOfAlert(event)),
  };
}

function isOfAlert({ kind }: WatchEvent): boolean {
  return kind === "alert_start" || kind === "alert_end";
}

function publicReason(reason: EndReason, isAlert: boolean): PublicReason {
  switch (reason) {
    case "moved":
      return isAlert ? "ended" : "moved";
    case "changed":
      return isAlert ? "alert_changed" : "fence_changed";
    case "deleted":
      return isAlert ? "alert_deleted" : "fence_deleted";
    default:
      return reason;
  }
}
