import type { FenceSchedule } from "../fences/fence.ts";

/** What an alert is about. */
export type AlertType = "speed_above" | "battery_below" | "silent_for";

/** An alert as the server has it. The page stores members that it does not know again as they are. */
export interface Alert extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly name?: string;
  /** Meters per second. */
  readonly speed_above?: number;
  /** Percent. */
  readonly battery_below?: number;
  /** Minutes. */
  readonly silent_for?: number;
  readonly active?: boolean;
  readonly confirm_seconds?: number;
  readonly confirmations?: number;
  readonly schedule?: FenceSchedule;
  readonly devices?: readonly string[];
  readonly users?: readonly string[];
}

export const ALERTS_PATH = "/api/v1/alerts";

export const ALERT_TYPES: readonly AlertType[] = ["speed_above", "battery_below", "silent_for"];

export function typeOf(alert: Alert): AlertType {
  return ALERT_TYPES.find((type) => alert[type] !== undefined) ?? "speed_above";
}
