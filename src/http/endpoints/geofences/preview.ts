import { parseFence } from "../../../geofences/parse/drafts.ts";
import {
  FENCE_REASONS,
  type PresentedHappening,
  presentHappening,
} from "../../../geofences/present-event.ts";
import { EVENT_KINDS } from "../../../geofences/watch.ts";
import { SharedPool } from "../../../lib/schedule/shared-pool.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
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
  type ValueOf,
} from "../../shapes/shape.ts";
import { ENDING_MEMBERS, EXAMPLE_HAPPENING, HAPPENING_MEMBERS } from "../events/shapes.ts";
import { fenceBody } from "./create.ts";
import { readWatch } from "./read-watch.ts";
import { WATCH_BODY_FAILURES } from "./shapes.ts";

/** Each takes as much memory as its devices and events, up to some 150 MB. */
const PREVIEWS_MAX = 2;

const TOO_MANY: ServiceError = {
  kind: "unavailable",
  message: "too many previews are under way; ask again later",
  retryAfterSeconds: 2,
};

/** What a geofence alone may make, under one version. */
const event = plain<PresentedHappening>(
  closed(
    {
      ...HAPPENING_MEMBERS,
      kind: { ...HAPPENING_MEMBERS.kind, enum: EVENT_KINDS.filter((kind) => !kind.startsWith("alert")) },
    },
    {
      ...ENDING_MEMBERS,
      reason: {
        ...ENDING_MEMBERS.reason,
        enum: FENCE_REASONS.filter((reason) => !reason.startsWith("fence")),
      },
    },
  ),
);

const answer = object({
  success: always(true),
  events: list(event),
  incomplete: optional(incomplete),
  pagination: object({ ...pageCounts, total_count: count("Events before paging."), ...pageAsked }),
});

export const previewGeofence = queryEndpoint({
  operationId: "previewGeofence",
  tag: "Geofences",
  summary: "The events that a geofence would have made",
  description: [
    "Tries a geofence on the past, as if it had been in force from `start` on: its events until `end`, which is also the",
    "time by which devices are silent or the schedule ends, oldest first. Nothing is stored. At most 366 days, 250,000",
    "devices and 100,000 events.",
  ].join(" "),
  method: "POST",
  path: "/api/v1/geofences/preview",
  inPath: {},
  query: { ...instants, limit, offset },
  wrongQuery: "start=yesterday",
  body: fenceBody,
  answer: {
    name: "GeofencePreview",
    description: "One page of the events.",
    shape: answer,
    example: {
      success: true,
      events: [EXAMPLE_HAPPENING],
      pagination: { ...EXAMPLE_COUNTS, total_count: 1, ...EXAMPLE_ASKED },
    },
  },
  failures: { 413: WATCH_BODY_FAILURES[413]!, 415: WATCH_BODY_FAILURES[415]! },
  open({ previewFence }) {
    const pool = new SharedPool(PREVIEWS_MAX);
    return async (call, { start, end, limit, offset }) => {
      const range = readInstants({ start, end });
      if (!range.ok) return call.fail(range.error);
      const draft = await readWatch(call.request, parseFence);
      if (!draft.ok) return call.fail(draft.error);
      const owner = { appId: call.appId, keyId: call.keyId };
      if (!pool.take(owner, 1)) return call.fail(TOO_MANY);
      try {
        const query = { terms: draft.value.terms, range: range.value };
        const preview = await previewFence(call.appId, query, call.request);
        if (!preview.ok) return call.fail(preview.error);
        const { value: events, isIncomplete } = preview.value;
        const page = events.slice(offset, offset + limit);
        const counts = { count: page.length, has_more: offset + page.length < events.length };
        const body: ValueOf<typeof answer> = {
          success: true,
          events: page.map(presentHappening),
          ...(isIncomplete ? { incomplete: true } : {}),
          pagination: { ...counts, total_count: events.length, offset, limit },
        };
        return await call.object(body, 200);
      } finally {
        pool.give(owner, 1);
      }
    };
  },
});
