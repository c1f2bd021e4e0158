import type { DeviceId, UserId } from "../ids.ts";
import type { Area } from "./area.ts";
import type { ScheduleRule } from "./schedule-rule.ts";

/*
 * What an app sets for a fence or an alert. Area and rules make its versions; what people call it does not.
 */

/** The names that people give it. */
export interface WatchLook {
  readonly name: string | null;
  readonly description: string | null;
  /** `#rrggbb`, in lower case. */
  readonly color: string | null;
  readonly tags: readonly string[];
  /** The text of a JSON object; null if there is none. */
  readonly metadata: string | null;
}

/** The rules that fences and alerts share. */
interface CommonRules {
  readonly isActive: boolean;
  readonly confirmSeconds: number;
  readonly confirmations: number;
  /** Null means always. */
  readonly schedule: ScheduleRule | null;
  /** Null means all. */
  readonly devices: readonly DeviceId[] | null;
  readonly users: readonly UserId[] | null;
}

export interface FenceRules extends CommonRules {
  readonly accuracyMetersMax: number;
  readonly exitBufferMeters: number;
  readonly dwellSeconds: number | null;
  readonly silenceMinutes: number | null;
  readonly initial: "none" | "event";
}

export const ALERT_TYPES = ["speed_above", "battery_below", "silent_for"] as const;
export type AlertType = (typeof ALERT_TYPES)[number];

export interface AlertRules extends CommonRules {
  readonly type: AlertType;
  /** Meters per second, percent, or minutes. */
  readonly limit: number;
}

/** What makes a version of a fence or an alert. */
export type WatchTerms =
  | { readonly kind: "fence"; readonly area: Area; readonly rules: FenceRules }
  | { readonly kind: "alert"; readonly rules: AlertRules };

export type WatchKind = WatchTerms["kind"];

export interface WatchDraft {
  readonly look: WatchLook;
  readonly terms: WatchTerms;
}

const COMMON_DEFAULTS: CommonRules = {
  isActive: true,
  confirmSeconds: 0,
  confirmations: 1,
  schedule: null,
  devices: null,
  users: null,
};

/** The rules of a fence or an alert that sets none, but for the type and the limit of an alert. */
export const RULES_DEFAULTS: { readonly fence: FenceRules; readonly alert: AlertRules } = {
  fence: {
    ...COMMON_DEFAULTS,
    ...{ accuracyMetersMax: 200, exitBufferMeters: 20 },
    ...{ dwellSeconds: null, silenceMinutes: null, initial: "none" },
  },
  alert: { ...COMMON_DEFAULTS, type: "speed_above", limit: 0 },
};

export const LOOK_DEFAULT: WatchLook = {
  name: null,
  description: null,
  color: null,
  tags: [],
  metadata: null,
};

/** A draft that came from another process: with the defaults themselves if nothing differs from them. */
export function withSharedDefaults({ look, terms }: WatchDraft): WatchDraft {
  const shared = JSON.stringify(look) === JSON.stringify(LOOK_DEFAULT) ? LOOK_DEFAULT : look;
  if (terms.kind === "alert") return { look: shared, terms };
  const { fence } = RULES_DEFAULTS;
  const rules = JSON.stringify(terms.rules) === JSON.stringify(fence) ? fence : terms.rules;
  return { look: shared, terms: { ...terms, rules } };
}
