import { MINUTES_MAX } from "../../../geofences/parse/rules.ts";
import type { PresentedAlert } from "../../../geofences/present.ts";
import { closed, plain, ref, type Schemas } from "../../shapes/shape.ts";
import { COMMON_MEMBERS, EXAMPLE_ALERT_ID, EXAMPLE_FENCE, nullable, WATCH_MEMBERS } from "./shapes.ts";

/* What the endpoints of alerts share. */

const ALERT_MEMBERS: Schemas = {
  ...COMMON_MEMBERS,
  speed_above: {
    type: "number",
    minimum: 0,
    maximum: 1000,
    description: "The device is faster than this, in meters per second.",
  },
  battery_below: {
    type: "number",
    minimum: 0,
    maximum: 100,
    description: "Its battery has less than this, in percent; again only after it rose 5 above.",
  },
  silent_for: {
    type: "integer",
    minimum: 1,
    maximum: MINUTES_MAX,
    description: "The device has not reported for this long, in minutes.",
  },
};

/** The body of a request. */
export const NEW_ALERT_SCHEMA = closed(
  {},
  nullable(ALERT_MEMBERS),
  "Exactly one of speed_above, battery_below and silent_for is required.",
);

export const ALERT_SCHEMA = closed(WATCH_MEMBERS, ALERT_MEMBERS);

export const alert = plain<PresentedAlert>(ref("schemas", "Alert"));

export const EXAMPLE_NEW_ALERT = { name: "Speeding", speed_above: 36.1, confirm_seconds: 30 } as const;

const { version, created, updated } = EXAMPLE_FENCE;
export const EXAMPLE_ALERT: PresentedAlert = {
  ...{ ...EXAMPLE_NEW_ALERT, active: true, confirmations: 1 },
  ...{ id: EXAMPLE_ALERT_ID, version, created, updated },
};
