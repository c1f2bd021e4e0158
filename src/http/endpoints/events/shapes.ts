import { ALERT_REASONS, FENCE_REASONS, type PresentedEvent } from "../../../geofences/present-event.ts";
import { EVENT_KINDS } from "../../../geofences/watch.ts";
import { limit, offset, timezone } from "../../parameters/common.ts";
import { choice, optionalNumber, optionalText, severalWords } from "../../parameters/kinds.ts";
import { INSTANT_BOUNDS } from "../../parameters/ranges.ts";
import { EXAMPLE_REPORT, LOCAL_TIME } from "../../shapes/record-schemas.ts";
import {
  always,
  closed,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  list,
  object,
  pageAsked,
  pageCounts,
  plain,
  ref,
  type Schema,
  type Schemas,
} from "../../shapes/shape.ts";
import { EXAMPLE_FENCE_ID } from "../geofences/shapes.ts";

/* What the endpoints of events share. */

const text = (description: string): Schema => ({ type: "string", description });
const unixMs = (description: string): Schema => ({ type: "integer", format: "int64", description });
const whole = (minimum: number, description: string): Schema => ({
  ...unixMs(description),
  minimum,
});
const only = (description: string): Schema => ({ type: "boolean", enum: [true], description });

/** What happened, and to whom. */
export const HAPPENING_MEMBERS: Schemas = {
  kind: { type: "string", enum: EVENT_KINDS, description: "What happened." },
  timestamp: unixMs("When it happened, Unix ms."),
  device_id: text("The device."),
  user_id: text("The user who had it."),
  visit_id: text("The events of one visit, or of one alert from its start to its end, have the same."),
};

/** How a visit ended. */
export const ENDING_MEMBERS: Schemas = {
  entered_at: unixMs("Of an end: when the visit began, Unix ms. Absent if no event began it."),
  duration_seconds: { type: "number", description: "Of an end: how long it was. Absent like entered_at." },
  positions: whole(0, "Of an end: records that were inside."),
  reason: {
    type: "string",
    enum: [...new Set([...FENCE_REASONS, ...ALERT_REASONS])],
    description: "Of an end: why it ended.",
  },
};

export const EVENT_SCHEMA = closed(
  {
    id: text("Its id, which stays when reports that come later change it."),
    revision: whole(1, "Counts what was made of it. Of two revisions, the higher one holds."),
    ...HAPPENING_MEMBERS,
    version: whole(1, "The version of the geofence or the alert that made it."),
  },
  {
    ...ENDING_MEMBERS,
    fence_id: text("The geofence."),
    alert_id: text("The alert, in place of a geofence."),
    late: only("It was made more than 24 hours after its time."),
    correction: only("It is not the first revision."),
    withdrawn: only("It has not happened, as is known now. Only requests with `after` have such events."),
    local_time: LOCAL_TIME,
  },
);

export const EXAMPLE_HAPPENING = {
  kind: "exit",
  timestamp: 1_773_968_400_000,
  device_id: String(EXAMPLE_REPORT.device_id),
  user_id: String(EXAMPLE_REPORT.user_id),
  visit_id: "01KM4KHX80CJ494MV86VVH0PPH",
  entered_at: 1_773_964_800_000,
  duration_seconds: 3600,
  positions: 60,
  reason: "moved",
} as const;

const EXAMPLE_EVENT: PresentedEvent = {
  ...{ id: "01KM4PZRM08VQ2ZJ5C7T1XN4DW", revision: 1 },
  ...EXAMPLE_HAPPENING,
  ...{ fence_id: EXAMPLE_FENCE_ID, version: 1 },
};

export const eventsPage = object({
  success: always(true),
  events: list(plain<PresentedEvent & { readonly local_time?: string }>(ref("schemas", "Event"))),
  pagination: object({
    ...pageCounts,
    ...pageAsked,
    after: count("Asks for what is stored after this answer, or for the next page of a request with after."),
  }),
});

/** Everything that the declarations of these endpoints have alike. */
export const EVENTS_ANSWER = {
  tag: "Geofences",
  wrongQuery: "limit=0",
  answer: {
    name: "Events",
    description: "One page of the events.",
    shape: eventsPage,
    example: {
      success: true,
      events: [EXAMPLE_EVENT],
      pagination: { ...EXAMPLE_COUNTS, ...EXAMPLE_ASKED, after: 512 },
    },
  },
  schemas: { Event: EVENT_SCHEMA },
} as const;

export const EVENTS_PAGING = [
  "By time, without those that are withdrawn. With `after`, in the order in which they were stored: a client that",
  "repeats the request with the last answer's `after` gets each event, and each change of one, once.",
].join(" ");

export const eventsQuery = {
  start: optionalNumber("integer", {
    description: "Only events from this instant on, Unix ms.",
    ...INSTANT_BOUNDS,
  }),
  end: optionalNumber("integer", {
    description: "Only events before this instant, Unix ms.",
    ...INSTANT_BOUNDS,
    minimum: 1,
  }),
  kinds: severalWords("Only events of these kinds.", EVENT_KINDS, EVENT_KINDS),
  user_id: optionalText("Only events of devices that this user had."),
  after: optionalNumber("integer", {
    description: "Only what was stored after this place, withdrawn events too; not with order or offset.",
    minimum: 0,
  }),
  order: choice("By time: oldest first (asc) or newest first (desc).", ["asc", "desc"], "asc"),
  limit,
  offset,
  timezone: { ...timezone, description: "Adds local_time to each event. Takes the zones of other requests." },
};

/** For events of many devices. */
export const eventsDevice = { device_id: optionalText("Only events of this device.") };
