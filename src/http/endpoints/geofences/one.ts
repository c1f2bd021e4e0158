import { parseFence } from "../../../geofences/parse/drafts.ts";
import { presentFence } from "../../../geofences/present.ts";
import { findWatch } from "../../../service/geofences/find-watches.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { always, count, object, text, type ValueOf } from "../../shapes/shape.ts";
import { fenceBody, stored } from "./create.ts";
import { editOf, readWatch } from "./read-watch.ts";
import { EXAMPLE_FENCE, geofence, geofenceId, MISSING_FENCE, WATCH_BODY_FAILURES } from "./shapes.ts";

const PATH = "/api/v1/geofences/:geofenceId";

const one = object({ success: always(true), geofence });

export const oneGeofence = queryEndpoint({
  operationId: "getGeofence",
  tag: "Geofences",
  summary: "One geofence",
  description: "Its current version.",
  path: PATH,
  inPath: { geofenceId },
  query: {},
  answer: {
    name: "GeofenceAnswer",
    description: "The geofence.",
    shape: one,
    example: { success: true, geofence: EXAMPLE_FENCE },
  },
  failures: { 404: MISSING_FENCE },
  open({ hot }) {
    return (call, { geofenceId }) => {
      const watch = findWatch(hot.watches.find(call.appId), "fence", geofenceId);
      if (watch === null) return call.fail({ kind: "fence_not_found" });
      const body: ValueOf<typeof one> = { success: true, geofence: presentFence(watch) };
      return call.object(body, 200);
    };
  },
});

export const replaceGeofence = queryEndpoint({
  operationId: "replaceGeofence",
  tag: "Geofences",
  summary: "Replaces a geofence",
  description: [
    "Replaces all of it. Another area or other rules make another version, which is in force for fixes from then on;",
    "another name, description, color, other tags or metadata do not.",
  ].join(" "),
  method: "PUT",
  permission: "manage",
  path: PATH,
  inPath: { geofenceId },
  query: {},
  body: fenceBody,
  answer: {
    name: "GeofenceReplaced",
    description: "The geofence as it is stored.",
    shape: stored,
    example: { success: true, geofence: { ...EXAMPLE_FENCE, version: 2 }, sequence: 4712 },
  },
  failures: { ...WATCH_BODY_FAILURES, 404: MISSING_FENCE },
  open({ editWatches }) {
    return async (call, { geofenceId }) => {
      const draft = await readWatch(call.request, parseFence);
      if (!draft.ok) return call.fail(draft.error);
      const edited = await editWatches.replace(editOf(call), geofenceId, draft.value);
      if (!edited.ok) return call.fail(edited.error);
      const { watch, sequence } = edited.value;
      const body: ValueOf<typeof stored> = { success: true, geofence: presentFence(watch), sequence };
      return call.object(body, 200);
    };
  },
});

const deleted = object({
  success: always(true),
  id: text("The geofence that is no more."),
  sequence: count("Position in the log after this request."),
});

export const deleteGeofence = queryEndpoint({
  operationId: "deleteGeofence",
  tag: "Geofences",
  summary: "Deletes a geofence",
  description: "It is in force for fixes from before its deletion only.",
  method: "DELETE",
  permission: "manage",
  path: PATH,
  inPath: { geofenceId },
  query: {},
  answer: {
    name: "GeofenceDeleted",
    description: "It was deleted.",
    shape: deleted,
    example: { success: true, id: EXAMPLE_FENCE.id, sequence: 4713 },
  },
  failures: { 404: MISSING_FENCE },
  open({ editWatches }) {
    return async (call, { geofenceId }) => {
      const edited = await editWatches.delete(editOf(call), "fence", geofenceId);
      if (!edited.ok) return call.fail(edited.error);
      const body: ValueOf<typeof deleted> = {
        success: true,
        id: geofenceId,
        sequence: edited.value.sequence,
      };
      return call.object(body, 200);
    };
  },
});
