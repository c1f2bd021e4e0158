import type { Steps } from "../../lib/schedule/steps.ts";
import { type Client, type ClientMessage, jsonFailure } from "../client.ts";
import { listOf } from "../content.ts";
import type { PointSink } from "../point.ts";
import { contextOf } from "../reading/context.ts";
import { handOver } from "../reading/found.ts";
import { readList } from "../reading/list.ts";
import { isMembers, type Members } from "../reading/members.ts";
import { type BatchContext, findInFeature } from "./feature.ts";
import { findInOwnTracksMode, isLikeOwnTracksMode, isOwnTracksMode } from "./owntracks-mode.ts";

/** Overland for iOS, and whoever writes its batches: `{"locations":[Feature…], "current"?, "device_id"?}`. */
export const overland: Client = {
  name: "overland",
  methods: ["POST"],
  takesQuery: false,
  recognizes: (value) => isBatch(value) || isOwnTracksMode(value),
  speaks: (value) => isBatch(value) || isLikeOwnTracksMode(value),
  read: readOverland,
  // The app deletes a batch on exactly this, and keeps it on anything else.
  success: { contentType: "application/json", body: '{"result":"ok"}' },
  failure: jsonFailure,
  // The app shows the name. A POST that was redirected must not take it for a success.
  greeting: (keyLabel) => ({ contentType: "application/json", body: JSON.stringify({ name: keyLabel }) }),
  retriesAtOnce: false,
  mustNameDevice: false,
};

function isBatch(value: unknown): value is Members {
  return isMembers(value) && listOf(value.locations) !== null;
}

function* readOverland(message: ClientMessage, sink: PointSink): Steps<void> {
  const { content } = message;
  if (content.kind === "empty") return sink.skip("empty message");
  if (content.kind === "unreadable") return sink.refuse("bad_json");
  const value = content.kind === "json" ? content.value : null;
  if (isBatch(value)) yield* readBatch(value, message, sink);
  else if (isLikeOwnTracksMode(value))
    handOver(findInOwnTracksMode(value, contextOf(message, "mps")), undefined, sink);
  else sink.refuse("unknown_shape");
}

function* readBatch(batch: Members, message: ClientMessage, sink: PointSink): Steps<void> {
  const context = { ...contextOf(message, "mps"), batchDevice: batch.device_id ?? null };
  const read = (feature: unknown) =>
    handOver(findInFeature(feature, context), batchOf(feature, context), sink);
  yield* readList(listOf(batch.locations) ?? [], sink, read);
  // The newest position of a phone that is far behind with its batches; it is in none of them yet.
  if (isMembers(batch.current)) read(batch.current);
}

/** A message of one feature alone. */
function batchOf(feature: unknown, { batchDevice }: BatchContext): unknown {
  return batchDevice === null ? { locations: [feature] } : { locations: [feature], device_id: batchDevice };
}
