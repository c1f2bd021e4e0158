import { commonRules } from "../fences/fence-texts.ts";
import { speedText, speedUnit, type Units } from "../geo/units.ts";
import { durationText } from "../time/format.ts";
import { type Alert, type AlertType, typeOf } from "./alert.ts";

/* Alerts in words. */

/** The label before the limit. */
export const TYPE_LABELS: Readonly<Record<AlertType, string>> = {
  speed_above: "Faster than",
  battery_below: "Battery below",
  silent_for: "Silent for",
};

/** The unit after the limit in the form. */
export function unitOf(type: AlertType, units: Units): string {
  if (type === "speed_above") return speedUnit(units);
  return type === "battery_below" ? "%" : "min";
}

/** `Faster than 130 km/h`, `Battery below 15 %`, `Silent for 2 h`. */
export function limitText(alert: Alert, units: Units): string {
  const type = typeOf(alert);
  const limit = alert[type] ?? 0;
  const texts: Readonly<Record<AlertType, string>> = {
    speed_above: speedText(limit, units),
    battery_below: `${limit} %`,
    silent_for: durationText(limit * 60_000),
  };
  return `${TYPE_LABELS[type]} ${texts[type]}`;
}

/** Its name, or else what it is about. */
export function alertName(alert: Alert, units: Units): string {
  return alert.name ?? limitText(alert, units);
}

/** What it does, a sentence each. */
export function alertRules(alert: Alert, units: Units): readonly string[] {
  return [limitText(alert, units), ...commonRules(alert)];
}
