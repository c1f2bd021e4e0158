import { type DraftSchedule, draftSchedule, scheduleOf } from "../fences/draft-schedule.ts";
import { speedFactor, type Units } from "../geo/units.ts";
import type { Draft } from "../items/draft-editor.ts";
import { type DraftFault, draftFault } from "../items/draft-fault.ts";
import { ALERT_TYPES, type Alert, type AlertType, typeOf } from "./alert.ts";

/* An alert while a user edits it. The server checks all of it, and its errors name the member. */

export interface AlertDraft extends Draft {
  readonly type: AlertType;
  /** As the user types it, in the user's units. */
  readonly limit: string;
  readonly units: Units;
  /** What the server has, so that nothing is rounded that the user does not change. */
  readonly stored: { readonly limit: string; readonly type: AlertType; readonly value: number } | null;
  readonly name: string;
  readonly isActive: boolean;
  /** As the user types it; empty is the server's default. */
  readonly confirmSeconds: string;
  readonly schedule: DraftSchedule;
  readonly devices: readonly string[];
  /** The members that the form does not show. */
  readonly others: Readonly<Record<string, unknown>>;
}

export function newAlert(units: Units): AlertDraft {
  return {
    ...{ id: null, type: "speed_above", limit: "", units, stored: null, name: "", isActive: true },
    ...{ confirmSeconds: "", schedule: { kind: "always" }, devices: [], others: {} },
  };
}

export function draftOf(alert: Alert, units: Units): AlertDraft {
  const type = typeOf(alert);
  const { [type]: value = 0, id, name = "", active = true, confirm_seconds, ...more } = alert;
  // The server makes the first three.
  const { version: _version, created: _created, updated: _updated, schedule, devices = [], ...others } = more;
  const limit = String(Number((value * factorOf(type, units)).toFixed(2)));
  return {
    ...{ id, type, limit, units, stored: { limit, type, value }, name, isActive: active },
    confirmSeconds: confirm_seconds === undefined ? "" : String(confirm_seconds),
    ...{ schedule: draftSchedule(schedule), devices, others },
  };
}

export function bodyOf(draft: AlertDraft): Readonly<Record<string, unknown>> {
  const { type, name, isActive, confirmSeconds, devices, others } = draft;
  const schedule = scheduleOf(draft.schedule);
  const seconds = confirmSeconds.trim();
  return {
    ...others,
    [type]: limitOf(draft),
    ...(name.trim() === "" ? {} : { name: name.trim() }),
    active: isActive,
    ...(seconds === "" ? {} : { confirm_seconds: Number(seconds) }),
    ...(schedule === null ? {} : { schedule }),
    ...(devices.length === 0 ? {} : { devices }),
  };
}

function limitOf({ type, limit, units, stored }: AlertDraft): number {
  if (stored !== null && stored.type === type && stored.limit === limit) return stored.value;
  return Number((Number(limit) / factorOf(type, units)).toFixed(6));
}

/** What one of the server's unit is in the user's. */
function factorOf(type: AlertType, units: Units): number {
  return type === "speed_above" ? speedFactor(units) : 1;
}

const SHOWN: readonly string[] = ["name", "confirm_seconds", "schedule", "devices", ...ALERT_TYPES];

export function faultOf(message: string): DraftFault {
  return draftFault(message, SHOWN);
}
