import { parseFence } from "../../../geofences/parse/drafts.ts";
import { presentFence } from "../../../geofences/present.ts";
import { queryEndpoint } from "../../endpoint.ts";
import { always, count, object, ref, type ValueOf } from "../../shapes/shape.ts";
import { editOf, readWatch } from "./read-watch.ts";
import {
  EXAMPLE_FENCE,
  EXAMPLE_NEW_FENCE,
  geofence,
  NEW_GEOFENCE_SCHEMA,
  WATCH_BODY_FAILURES,
} from "./shapes.ts";

export const stored = object({
  success: always(true),
  geofence,
  sequence: count("Position in the log after this request."),
});

const schema = ref("schemas", "NewGeofence");

export const fenceBody = {
  description: "The geofence, as a GeoJSON Feature.",
  example: EXAMPLE_NEW_FENCE,
  content: {
    "application/json": { schema, example: EXAMPLE_NEW_FENCE },
    "application/geo+json": { schema, example: EXAMPLE_NEW_FENCE },
  },
};

export const createGeofence = queryEndpoint({
  operationId: "createGeofence",
  tag: "Geofences",
  summary: "Makes a geofence",
  description: [
    "An area of the app: a Polygon or MultiPolygon, a Point with a radius, or a LineString with a buffer. It is on disk",
    "and in force once this is answered, for fixes from then on. An app has at most 100,000 geofences with 2,000,000",
    "vertices and 64 MiB, including the earlier versions that its records may still need, and no point is in the boxes",
    "of more than 256.",
  ].join(" "),
  method: "POST",
  permission: "manage",
  path: "/api/v1/geofences",
  inPath: {},
  query: {},
  body: fenceBody,
  answer: {
    name: "GeofenceStored",
    description: "The geofence as it is stored.",
    shape: stored,
    example: { success: true, geofence: EXAMPLE_FENCE, sequence: 4711 },
  },
  failures: WATCH_BODY_FAILURES,
  schemas: { NewGeofence: NEW_GEOFENCE_SCHEMA },
  open({ editWatches }) {
    return async (call) => {
      const draft = await readWatch(call.request, parseFence);
      if (!draft.ok) return call.fail(draft.error);
      const edited = await editWatches.create(editOf(call), draft.value);
      if (!edited.ok) return call.fail(edited.error);
      const { watch, sequence } = edited.value;
      const body: ValueOf<typeof stored> = { success: true, geofence: presentFence(watch), sequence };
      return call.object(body, 200);
    };
  },
});
