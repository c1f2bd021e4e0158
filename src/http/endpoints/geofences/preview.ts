import { Buffer } from "node:buffer";
import { parseFence } from "../../../geofences/parse/drafts.ts";
import {
  FENCE_REASONS,
  type PresentedHappening,
  presentHappening,
} from "../../../geofences/present-event.ts";
import { EVENT_KINDS, type WatchEvent } from "../../../geofences/watch.ts";
import { SharedPool } from "../../../lib/schedule/shared-pool.ts";
import type { ServiceError } from "../../../model/errors.ts";
import type { PreviewFence } from "../../../service/geofences/preview.ts";
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

/** `piecesOf` writes it. */
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
    "devices. The first events are sent before all records are read.",
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
      const query = { terms: draft.value.terms, range: range.value, offset, limit };
      const arrivals = new Arrivals();
      const preview = previewFence(call.appId, query, call.request, (events) => arrivals.add(events)).finally(
        () => {
          arrivals.end();
          pool.give(owner, 1);
        },
      );
      preview.catch(() => undefined); // What reads the answer gets the error.
      await arrivals.some();
      if (arrivals.isEnded) {
        const outcome = await preview;
        if (!outcome.ok) return call.fail(outcome.error);
      }
      return call.arriving({ pieces: () => piecesOf(arrivals, preview, { offset, limit }) });
    };
  },
});

/** Events of a page that come one after the other. */
class Arrivals {
  #events: WatchEvent[] = [];
  #change = Promise.withResolvers<void>();
  #isEnded = false;

  /** Whether there will be no more. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  add(events: readonly WatchEvent[]): void {
    this.#events.push(...events);
    this.#change.resolve();
  }

  end(): void {
    this.#isEnded = true;
    this.#change.resolve();
  }

  /** Resolves once there are some, or there will be no more. */
  some(): Promise<void> {
    return this.#change.promise;
  }

  /** Those that have come since the last call. */
  take(): readonly WatchEvent[] {
    const events = this.#events;
    this.#events = [];
    if (!this.#isEnded) this.#change = Promise.withResolvers<void>();
    return events;
  }
}

/** The body of an answer, of which each piece is sent as soon as its events are certain. */
async function* piecesOf(
  arrivals: Arrivals,
  preview: ReturnType<PreviewFence>,
  paging: { readonly offset: number; readonly limit: number },
): AsyncIterable<Uint8Array<ArrayBuffer>> {
  yield bytesOf('{"success":true,"events":[');
  let count = 0;
  for (let isOver = false; !isOver; ) {
    await arrivals.some();
    isOver = arrivals.isEnded;
    const events = arrivals.take();
    if (events.length === 0) continue;
    const texts = events.map((each) => JSON.stringify(presentHappening(each)));
    yield bytesOf(`${count === 0 ? "" : ","}${texts.join()}`);
    count += events.length;
  }
  const outcome = await preview;
  if (!outcome.ok) throw new Error("a preview had too many events after the first ones were sent");
  const { total, isIncomplete } = outcome.value;
  const pagination = { count, has_more: paging.offset + count < total, total_count: total, ...paging };
  yield bytesOf(`]${isIncomplete ? ',"incomplete":true' : ""},"pagination":${JSON.stringify(pagination)}}`);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Buffer.from(text);
}
