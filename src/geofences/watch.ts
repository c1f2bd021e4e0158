import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import type { Schedule } from "./schedule.ts";
import type { Shape } from "./shape.ts";

/** A fence or an alert of an app: what makes events of records. */
export interface Watch {
  readonly appId: AppId;
  readonly id: string;
  /** In the order of their times; the first one begins when the watch is created. */
  readonly versions: readonly WatchVersion[];
  /** Null while it exists. */
  readonly deletedMs: number | null;
}

/** Rules that are in force for records with times from `fromMs` on, until the next version. */
export interface WatchVersion {
  /** Counts from 1. */
  readonly number: number;
  readonly fromMs: number;
  readonly isActive: boolean;
  readonly condition: Condition;
  /** A change of state needs this many records in a row that say so, over this long. */
  readonly confirmations: number;
  readonly confirmMs: number;
  /** Null means always. */
  readonly schedule: Schedule | null;
  /** Null means all. */
  readonly devices: ReadonlySet<DeviceId> | null;
  readonly users: ReadonlySet<UserId> | null;
}

export type Condition = AreaCondition | SpeedCondition | BatteryCondition | SilenceCondition;

/** The device is inside an area. */
export interface AreaCondition {
  readonly kind: "area";
  readonly shape: Shape;
  /** Less accurate fixes are ignored. */
  readonly accuracyMetersMax: number;
  /** Outside counts only beyond the border by this much, and by the accuracy of the fix. */
  readonly exitBufferMeters: number;
  readonly dwellMs: number | null;
  /** A device that is inside leaves if it does not report for this long. */
  readonly silenceMs: number | null;
  /** Whether a device that is inside when its state becomes known enters. */
  readonly initial: "none" | "event";
}

/** The device is faster than this. */
export interface SpeedCondition {
  readonly kind: "speed_above";
  readonly metersPerSecond: number;
}

/** The charge of the device is below this, until it is `BATTERY_RISE_PERCENT` above. */
export interface BatteryCondition {
  readonly kind: "battery_below";
  readonly percent: number;
}

/** The device has not reported for this long, while the schedule is open. */
export interface SilenceCondition {
  readonly kind: "silent_for";
  readonly silenceMs: number;
}

/** What watches read of a record of a device; null if the record has no such field. */
export interface WatchedRecord {
  readonly timestampMs: number;
  readonly userId: UserId;
  readonly latitude: number;
  readonly longitude: number;
  readonly accuracyMeters: number | null;
  readonly metersPerSecond: number | null;
  readonly batteryPercent: number | null;
}

export const EVENT_KINDS = ["enter", "exit", "dwell", "alert_start", "alert_end"] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** Why a visit ended: `moved` of fences is `ended` of alerts. */
export type EndReason = "moved" | "silent" | "schedule" | "changed" | "deleted";

export interface WatchEvent {
  readonly id: string;
  readonly kind: EventKind;
  readonly timestampMs: number;
  readonly deviceId: DeviceId;
  readonly userId: UserId;
  readonly watchId: string;
  /** The number of the version. */
  readonly version: number;
  /** The events of a stay inside, or from the start of an alert to its end, have the same. */
  readonly visitId: string;
  /** How the visit ended; null if the kind is not `exit` or `alert_end`. */
  readonly ending: VisitEnding | null;
  /** The event exists once the clock of timed events has reached this; 0 if it does not depend on the clock. */
  readonly dueMs: number;
}

export interface VisitEnding {
  readonly reason: EndReason;
  /** Null if no event began the visit. */
  readonly enteredMs: number | null;
  /** Records that were inside. */
  readonly positions: number;
}

export interface DecidedEvent {
  readonly event: WatchEvent;
  /** The time of the record that decided it, which may be after that of the event; `Infinity` if the clock did. */
  readonly decidedMs: number;
}
