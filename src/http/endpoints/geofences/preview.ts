import { parseFence } from "../../../geofences/parse/drafts.ts";
import { EVENT_KINDS, type EventKind, type WatchEvent } from "../../../geofences/watch.ts";
import { SharedPool } from "../../../lib/schedule/shared-pool.ts";
import type { ServiceError } from "../../../model/errors.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { limit, offset } from "../../parameters/common.ts";
import { instants, readInstants } from "../../parameters/ranges.ts";
import { incomplete } from "../../shapes/history.ts";
import { EXAMPLE_REPORT } from "../../shapes/record-schemas.ts";
import {
  always,
  count,
  EXAMPLE_ASKED,
  EXAMPLE_COUNTS,
  instant,
  list,
  object,
  optional,
  pageAsked,
  pageCounts,
  plain,
  text,
  type ValueOf,
} from "../../shapes/shape.ts";
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

const REASONS = ["moved", "silent", "schedule"] as const;

const event = object({
  kind: plain<EventKind>({
    type: "string",
    enum: EVENT_KINDS.filter((kind) => !kind.startsWith("alert")),
    description: "What happened.",
  }),
  timestamp: instant("When it happened, Unix ms."),
  device_id: text("The device."),
  user_id: text("The user who had it."),
  visit_id: text("The events of one visit have the same."),
  entered_at: optional(instant("Of an exit: when the visit began, Unix ms. Absent if no event began it.")),
  duration_seconds: optional(plain<number>({ type: "number", description: "Of an exit: how long it was." })),
  positions: optional(count("Of an exit: fixes that were inside.")),
  reason: optional(
    plain<string>({
      type: "string",
      enum: REASONS,
      description: "Of an exit: the device moved, fell silent, or the schedule ended.",
    }),
  ),
});

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
      events: [
        {
          kind: "exit",
          timestamp: 1_773_968_400_000,
          device_id: EXAMPLE_REPORT.device_id,
          user_id: EXAMPLE_REPORT.user_id,
          visit_id: "01KM4KHX80CJ494MV86VVH0PPH",
          entered_at: 1_773_964_800_000,
          duration_seconds: 3600,
          positions: 60,
          reason: "moved",
        },
      ],
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
          events: page.map(presentEvent),
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

function presentEvent(event: WatchEvent): ValueOf<typeof answer>["events"][number] {
  const { kind, timestampMs, deviceId, userId, visitId, ending } = event;
  const common = { kind, timestamp: timestampMs, device_id: deviceId, user_id: userId, visit_id: visitId };
  if (ending === null) return common;
  const { reason, enteredMs, positions } = ending;
  const stay =
    enteredMs === null ? {} : { entered_at: enteredMs, duration_seconds: (timestampMs - enteredMs) / 1000 };
  return { ...common, ...stay, positions, reason };
}
