import { parseAlert, parseFence } from "../../../geofences/parse/drafts.ts";
import type { PresentedHappening, PublicReason } from "../../../geofences/present-event.ts";
import type { EventKind } from "../../../geofences/watch.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { instants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import {
  always,
  closed,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  list,
  object,
  optional,
  pageAsked,
  pageCounts,
  plain,
} from "../../shapes/shape.ts";
import { ENDING_MEMBERS, EXAMPLE_HAPPENING, HAPPENING_MEMBERS } from "../events/shapes.ts";
import { alertBody } from "./alerts.ts";
import { createAnswerPreview } from "./answer-preview.ts";
import { fenceBody } from "./create.ts";
import { WATCH_BODY_FAILURES } from "./shapes.ts";

/** A page of what one version may make; `createAnswerPreview` writes it. */
function shapeOf(kinds: readonly EventKind[], reasons: readonly PublicReason[]) {
  const { kind } = HAPPENING_MEMBERS;
  const { reason } = ENDING_MEMBERS;
  const event = closed(
    { ...HAPPENING_MEMBERS, kind: { ...kind, enum: kinds } },
    { ...ENDING_MEMBERS, reason: { ...reason, enum: reasons } },
  );
  return object({
    success: always(true),
    events: list(plain<PresentedHappening>(event)),
    incomplete: optional(incomplete),
    pagination: object({ ...pageCounts, total_count: count("Events before paging."), ...pageAsked }),
  });
}

const LIMITS = "At most 366 days and 250,000 devices. The first events are sent before all records are read.";

/** What both declarations have alike. */
const PREVIEW = {
  tag: "Geofences",
  method: "POST",
  inPath: {},
  query: { ...instants, limit, offset },
  wrongQuery: "start=yesterday",
  failures: { 413: WATCH_BODY_FAILURES[413]!, 415: WATCH_BODY_FAILURES[415]! },
} as const;

const EXAMPLE_PAGE = { pagination: { ...EXAMPLE_COUNTS, total_count: 1, ...EXAMPLE_ASKED } };

export const previewGeofence = queryEndpoint({
  ...PREVIEW,
  operationId: "previewGeofence",
  summary: "The events that a geofence would have made",
  description: [
    "Tries a geofence on the past, as if it had been in force from `start` on: its events until `end`, which is also the",
    `time by which devices are silent or the schedule ends, oldest first. Nothing is stored. ${LIMITS}`,
  ].join(" "),
  path: "/api/v1/geofences/preview",
  body: fenceBody,
  answer: {
    name: "GeofencePreview",
    description: "One page of the events.",
    shape: shapeOf(["enter", "exit", "dwell"], ["moved", "silent", "schedule"]),
    example: { success: true, events: [EXAMPLE_HAPPENING], ...EXAMPLE_PAGE },
  },
  open: (services) => createAnswerPreview(services, parseFence),
});

export const previewAlert = queryEndpoint({
  ...PREVIEW,
  operationId: "previewAlert",
  summary: "The events that an alert would have made",
  description: [
    "Tries an alert on the past, as if it had been in force from `start` on: its events until `end`, which is also the",
    `time by which devices are silent or the schedule ends, oldest first. Nothing is stored. ${LIMITS}`,
  ].join(" "),
  path: "/api/v1/alerts/preview",
  body: alertBody,
  answer: {
    name: "AlertPreview",
    description: "One page of the events.",
    shape: shapeOf(["alert_start", "alert_end"], ["ended", "silent", "schedule"]),
    example: {
      success: true,
      events: [{ ...EXAMPLE_HAPPENING, kind: "alert_end", reason: "ended" }],
      ...EXAMPLE_PAGE,
    },
  },
  open: (services) => createAnswerPreview(services, parseAlert),
});
